import { flagsOf, usageOf } from '../help.ts'
import { FLAGS, type Flag, type FlagName } from '../table/flags.ts'
import { VERBS } from '../table/index.ts'
import type { Verb } from '../table/verb.ts'

/** A tool as the Model Context Protocol describes it, and the verb that it calls. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, object>>
    readonly required: readonly string[]
    readonly additionalProperties: false
  }
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean }
  readonly verb: Verb
}

/** Flags that say who asks, how to draw, or would wait for ever. */
const LEFT_OUT: ReadonlySet<string> = new Set<FlagName>(['graph', 'interval', 'archive', 'by'])

/** The verbs as tools: those that read, and with `writes` those that act. Only with `payloads` may a tool ask for payloads. */
export function toolsOf({
  writes,
  payloads,
}: {
  readonly writes: boolean
  readonly payloads: boolean
}): readonly Tool[] {
  return VERBS.filter(({ access }) => access === 'read' || (writes && access === 'write'))
    .filter(({ name }) => name !== 'watch')
    .map((verb) => toolOf(verb, payloads))
}

function toolOf(verb: Verb, payloads: boolean): Tool {
  const { name, about, args = [], access } = verb
  const flags = flagsOf(verb).filter(
    (flag) => !LEFT_OUT.has(flag.name) && (payloads || flag.name !== 'payloads'),
  )
  const properties = {
    ...Object.fromEntries(args.map((arg) => [arg.name, arg.many ? listOf(arg.about) : textOf(arg.about)])),
    ...Object.fromEntries(flags.map((flag) => [flag.name, schemaOf(flag.name, flag.about)])),
    ...(access === 'write' ? { yes: { type: 'boolean', description: YES } } : {}),
  }
  return {
    name: name === '' ? 'overview' : name.replaceAll(/[ -]/g, '_'),
    description: `${about}\n\nOn a command line: ${usageOf(verb)}`,
    inputSchema: {
      type: 'object',
      properties,
      required: args.filter(({ optional }) => optional !== true).map((arg) => arg.name),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: access === 'read', destructiveHint: access === 'write' },
    verb,
  }
}

const YES = 'true: does it. Without it nothing is changed, and the answer says what would be done.'

function textOf(description: string): object {
  return { type: 'string', description }
}

function listOf(description: string): object {
  return { type: 'array', items: { type: 'string' }, description }
}

function schemaOf(name: FlagName, description: string): object {
  const flag: Flag = FLAGS[name]
  if (flag.takes === undefined) return { type: 'boolean', description }
  if (flag.number) return { type: 'integer', description }
  if (!flag.many) return textOf(description)
  const choices = typeof flag.completes === 'object' ? { enum: flag.completes } : {}
  return { type: 'array', items: { type: 'string', ...choices }, description }
}

/** Whether a call may change something. Only `yes: true` says so; whoever calls `main()` passes on the opposite as `onlyDry`. */
export function mayChange({ verb }: Tool, given: Readonly<Record<string, unknown>>): boolean {
  return verb.access === 'write' && given['yes'] === true
}

/** What is typed for a call of a tool. */
export function argvOf(tool: Tool, given: Readonly<Record<string, unknown>>): readonly string[] {
  const { verb } = tool
  const words = verb.name === '' ? [] : verb.name.split(' ')
  const flags = flagsOf(verb).flatMap(({ name }) => flagWords(name, given[name]))
  const takesDryRun = flagsOf(verb).some(({ name }) => name === 'dry-run')
  if (takesDryRun && !mayChange(tool, given)) flags.push('--dry-run')
  const args = (verb.args ?? []).flatMap(({ name }) => [given[name] ?? []].flat().map(String))
  // What follows is no flag, however it begins.
  return [...words, ...flags, '--json', ...(args.length === 0 ? [] : ['--', ...args])]
}

function flagWords(name: string, value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (value === true) return [`--${name}`]
  if (value === false) return name === 'compensate' || name === 'color' ? [`--no-${name}`] : []
  return [value].flat().map((each) => `--${name}=${String(each)}`)
}
