import { Command, type CommanderError, Option } from 'commander'
import type { CallProcess } from './call.ts'
import { CliError, misused } from './cli-error.ts'
import { mainHelp, verbHelp } from './help.ts'
import { withoutPassword } from './store/place.ts'
import { EVERYWHERE, FLAGS, type Flag, type FlagName, type FlagsGiven } from './table/flags.ts'
import { VERBS } from './table/index.ts'
import type { Verb } from './table/verb.ts'

/** What was typed: a verb with its arguments and flags, or a text to show, of help or the version. */
export type Typed =
  | {
      readonly verb: Verb
      readonly args: Readonly<Record<string, string | undefined>>
      readonly rest: readonly string[]
      readonly flags: FlagsGiven
    }
  | { readonly shows: string }

/** Throws a `CliError` with status 2 for wrong use. */
export function parse(
  argv: readonly string[],
  { stdout }: Pick<CallProcess, 'stdout'>,
  version: string,
): Typed {
  let typed: Typed | undefined
  let shows = ''
  const writeOut = (text: string) => {
    shows += text
  }
  const program = quiet(new Command('belay'))
  program
    .version(version, '--version-of-belay', 'the version of belay')
    .helpOption('--help')
    .helpCommand(false)
  program.helpInformation = () => mainHelp()
  for (const name of EVERYWHERE) addFlag(program, name)
  const families = new Map<string, Command>()
  for (const verb of VERBS) {
    const command = commandOf(program, families, verb)
    command.helpInformation = () => verbHelp(verb, stdout.columns || 80)
    for (const { name, optional, many } of verb.args ?? []) {
      const shown = many ? `${name}...` : name
      command.argument(optional ? `[${shown}]` : `<${shown}>`)
    }
    for (const flag of verb.flags ?? []) addFlag(command, typeof flag === 'string' ? flag : flag[0])
    command.action(() => {
      // A verb that nobody knows looks to commander like an argument of the bare command.
      if (verb.name === '' && command.args.length > 0) unknownVerb(command)
      typed = typedOf(verb, command)
    })
  }
  const members = program.commands.flatMap(({ commands }) => commands)
  for (const command of [program, ...program.commands, ...members]) {
    // A family alone shows its help as if it were an error.
    command.configureOutput({ writeOut, writeErr: writeOut })
  }
  try {
    program.parse([...argv], { from: 'user' })
  } catch (error) {
    if (error instanceof CliError) throw error
    const { code, message } = error as CommanderError
    if (code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version') {
      return { shows }
    }
    throw wrongUse(message)
  }
  return typed ?? { shows: shows || mainHelp() }
}

function quiet(command: Command): Command {
  return command.exitOverride().showHelpAfterError(false).allowExcessArguments(false)
}

function commandOf(program: Command, families: Map<string, Command>, { name }: Verb): Command {
  if (name === '') return program.allowExcessArguments(true)
  const [family = '', member] = name.split(' ')
  if (member === undefined) {
    const command = quiet(program.command(family)).helpOption('--help').helpCommand(false)
    families.set(family, command)
    return command
  }
  let parent = families.get(family)
  if (parent === undefined) {
    parent = quiet(program.command(family)).helpOption('--help').helpCommand(false)
    parent.helpInformation = () => mainHelp(family)
    families.set(family, parent)
  }
  return quiet(parent.command(member)).helpOption('--help').helpCommand(false)
}

function addFlag(command: Command, name: FlagName): void {
  const flag: Flag = FLAGS[name]
  if (flag.takes === undefined) {
    command.addOption(new Option(`--${name}`))
    if (NEGATED.has(name)) command.addOption(new Option(`--no-${name}`))
    return
  }
  const option = new Option(`--${name} ${flag.takes.replaceAll(/<([^>]*)>.*/g, '<value>')}`)
  if (flag.number) option.argParser((text) => numberOf(name, text))
  else if (flag.many)
    option.argParser((text, before: string[] | undefined) => [...(before ?? []), ...listOf(text)])
  command.addOption(option)
}

/** Switches that are on or off without being given. */
const NEGATED: ReadonlySet<string> = new Set<FlagName>(['color', 'compensate'])

function listOf(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim())
}

function numberOf(name: string, text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw misused(`--${name} takes a whole number, got "${text}".`)
}

function typedOf(verb: Verb, command: Command): Typed {
  const given = command.optsWithGlobals() as Readonly<Record<string, unknown>>
  // Commander sets a switch that can be negated to true when it is not given.
  const isGiven = (key: string) => {
    const source = command.getOptionValueSourceWithGlobals(key)
    return source !== undefined && source !== 'default'
  }
  const flags = Object.fromEntries(
    Object.entries(given)
      .filter(([key]) => isGiven(key))
      .map(([key, value]) => [key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value]),
  ) as FlagsGiven
  const args: Record<string, string | undefined> = {}
  let rest: readonly string[] = []
  for (const [index, { name, many }] of (verb.args ?? []).entries()) {
    const value = command.processedArgs[index] as string | readonly string[] | undefined
    if (many) rest = (value as readonly string[] | undefined) ?? []
    else args[name] = value as string | undefined
  }
  return { verb, args, rest, flags }
}

/** Throws commander's error, which offers the nearest verb. Its types hide the method. */
function unknownVerb(program: Command): void {
  const { unknownCommand } = program as unknown as { readonly unknownCommand: () => never }
  unknownCommand.call(program)
}

/** Commander's sentences in ours. */
function wrongUse(message: string): CliError {
  const text = message.replace(/^error: /, '')
  const [, near] = /\(Did you mean (?:one of )?(.+?)\?\)/.exec(text) ?? []
  const offer = near === undefined ? '' : ` Did you mean "${near.split(', ')[0]}"?`
  const [, named] = /'([^']*)'/.exec(text) ?? []
  // Whatever was typed in the wrong place may be a URL.
  const name = named && withoutPassword(named.replace(/^(--[^=]*)=.*$/s, '$1').replace(/ [<[].*$/, ''))
  if (text.startsWith('unknown command')) return misused(`Unknown verb "${name}".${offer}`, '--help')
  if (text.startsWith('unknown option')) return misused(`Unknown flag "${name}".${offer}`)
  if (text.startsWith('missing required argument'))
    return misused(`${upper(name ?? 'An argument')} is missing.`)
  if (text.startsWith('option')) return misused(`${name?.split(' ')[0]} needs a value.`)
  if (text.includes('too many arguments')) return misused(`There are more arguments than it takes.`)
  return misused(`${upper(text.split('\n')[0]!)}.`)
}

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
