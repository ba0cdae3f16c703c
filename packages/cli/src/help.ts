import { EVERYWHERE, FLAGS, type Flag, type FlagName } from './table/flags.ts'
import { VERBS } from './table/index.ts'
import type { Arg, Group, Verb } from './table/verb.ts'
import { pad, wrap } from './terminal/text.ts'

const GROUPS: readonly Group[] = ['see', 'act', 'undo', 'operate', 'set up']

/** All verbs by group, families like `schedules` in one line; or the verbs of one family. */
export function mainHelp(family?: string): string {
  const shown = family === undefined ? inLines() : VERBS.filter(({ name }) => name.startsWith(`${family} `))
  const longest = Math.max(...shown.map(({ name }) => name.length))
  const lines = GROUPS.flatMap((group) => {
    const verbs = shown.filter((verb) => verb.group === group)
    return verbs.map(({ name, summary }, index) => {
      return `  ${pad(index === 0 ? group : '', 8)} ${pad(name, longest)}  ${summary}`
    })
  })
  return [
    'belay <verb> [run] [flags]       belay <verb> --help has examples',
    '',
    ...lines,
    '',
    '  A run: order:9184, fulfil-order/order:9184, an id, or its first 8 digits.',
    '  Filters make it many runs: belay retry --workflow fulfil-order --since 2h',
    '',
  ].join('\n')
}

type Line = Pick<Verb, 'name' | 'group' | 'summary'>

function inLines(): readonly Line[] {
  const lines = new Map<string, Line>()
  for (const { name, group, summary } of VERBS) {
    const [family = '', member] = name.split(' ')
    if (member === undefined || group === 'undo') lines.set(name, { name, group, summary })
    else {
      const known = lines.get(family)
      const members = known === undefined ? member : `${known.summary}, ${member}`
      lines.set(family, { name: family, group, summary: members })
    }
  }
  lines.delete('')
  return [...lines.values()]
}

/** What one verb does, with its arguments, flags and examples. */
export function verbHelp(verb: Verb, columns = 80): string {
  if (verb.name === '') return mainHelp()
  const sections = [usageOf(verb), wrap(verb.about, columns).join('\n')]
  const described = argsAndFlags(verb)
  if (described.length > 0) sections.push(aligned(described, columns))
  sections.push(
    [
      'Examples',
      ...verb.examples.flatMap(({ command, about }) => [`  belay ${command}`, `      ${about}`]),
    ].join('\n'),
  )
  sections.push(`Every verb takes ${EVERYWHERE.map((name) => `--${name}`).join(' ')}.`)
  return `${sections.slice(0, -1).join('\n\n')}\n\n${wrap(sections.at(-1)!, columns).join('\n')}\n`
}

/** `belay show <run> [flags]`. */
export function usageOf({ name, args = [], flags = [] }: Verb): string {
  const words = ['belay', name, ...args.map(argOf), flags.length > 0 ? '[flags]' : '']
  return words.filter((word) => word !== '').join(' ')
}

/** The arguments and flags of a verb as they are typed, and what each says. */
export function argsAndFlags(verb: Verb): readonly (readonly [shown: string, about: string])[] {
  return [
    ...(verb.args ?? []).map((arg) => [argOf(arg), arg.about] as const),
    ...flagsOf(verb).map(({ shown, about }) => [shown, about] as const),
  ]
}

function argOf({ name, optional, many }: Arg): string {
  const shown = many ? `${name}…` : name
  return optional ? `[${shown}]` : `<${shown}>`
}

/** The flags of a verb, besides those that every verb takes. */
export function flagsOf({ flags = [] }: Verb): readonly { name: FlagName; shown: string; about: string }[] {
  return flags.map((given) => {
    const [name, about] = typeof given === 'string' ? [given, undefined] : given
    const flag: Flag = FLAGS[name]
    return {
      name,
      shown: flag.takes === undefined ? `--${name}` : `--${name} ${flag.takes}`,
      about: about ?? flag.about,
    }
  })
}

function aligned(rows: readonly (readonly [string, string])[], columns: number): string {
  const longest = Math.max(...rows.map(([shown]) => shown.length))
  return rows
    .flatMap(([shown, about]) =>
      wrap(about, columns - longest - 4).map(
        (line, index) => `  ${pad(index === 0 ? shown : '', longest)}  ${line}`,
      ),
    )
    .join('\n')
}
