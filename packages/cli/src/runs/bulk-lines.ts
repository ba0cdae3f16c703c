import type { BulkRefusal, BulkResult, RunsToChange } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { Store } from '../store/store.ts'
import { safe, wrap } from '../terminal/text.ts'
import { moment } from '../terminal/time.ts'
import type { ActionOnRuns } from './action.ts'
import { nameOf, shortIds } from './names.ts'
import { typedCommand } from './typed.ts'

const NAMED = 3
/** More would fill the screen. */
const INSTEAD = 20
const LIMIT_DEFAULT = 1_000
const LIMIT_MAX = 100_000

interface DryRun {
  readonly store: Store
  readonly dry: BulkResult
  readonly action: ActionOnRuns
  readonly runs: RunsToChange
}

/** What a dry run has found, in lines: how many would be changed, how many not and why, and the command that helps those. */
export async function linesOfDryRun(call: Call, found: DryRun): Promise<readonly string[]> {
  const { store, dry, action, runs } = found
  const { matched, changed } = dry
  const head = `Dry run: ${await selected(call, found)}`
  const names = await namesOf(store, dry.runIds)
  const counted: Counted[] = [
    ...(changed === 0 ? [] : [{ count: changed, what: `would be ${action.done}: ${names}` }]),
    ...refusals(call, dry),
  ]
  const same = matched - changed - dry.refused.length
  if (same > 0) counted.push({ count: same, what: 'would not change: there is nothing to do' })
  return [
    ...wrap(head, call.out.columns),
    ...aligned(counted, call.out.columns),
    ...(dry.more ? more(call, runs) : []),
  ]
}

/** The runs that were refused, by reason. */
export function linesOfRefusals(call: Call, result: BulkResult): readonly string[] {
  return aligned(refusals(call, result), call.out.columns)
}

interface Counted {
  readonly count: number
  readonly what: string
  readonly instead?: readonly string[]
}

function refusals({ verb, out }: Call, result: BulkResult): readonly Counted[] {
  const counted: Counted[] = result.refusals.map((refusal) => ({
    count: refusal.runIds.length,
    what: safe(afterCount(refusal)),
    instead: insteadOf({ verb, out }, refusal, result.runIds),
  }))
  const { unknown } = result
  if (unknown.length > 0) {
    const some = unknown.slice(0, NAMED).map((one) => (typeof one === 'string' ? one : one.key))
    counted.push({ count: unknown.length, what: `no such run: ${listed(some.map(safe), unknown.length)}` })
  }
  return counted
}

/** Follows a count. A command takes the place of the remedy. */
function afterCount({ why, refusal, remedy, instead }: BulkRefusal): string {
  if (refusal === undefined) return why
  return instead.length === 0 && remedy !== undefined ? `${refusal} ${remedy}` : refusal
}

/** What helps them, as lines that a shell takes, without the runs that are changed anyway. */
function insteadOf(
  { verb, out }: Pick<Call, 'verb' | 'out'>,
  { instead }: BulkRefusal,
  runIds: readonly string[],
): readonly string[] {
  const others = instead.filter((id) => !runIds.includes(id))
  if (others.length === 0) return []
  const command = `Instead: belay ${verb.name} ${others.slice(0, INSTEAD).join(' ')}`
  const lines = wrap(command, out.columns - INDENT_MAX - 4)
  const more = others.length - INSTEAD
  return [
    ...lines.map((line, at) => `${at === 0 ? '' : '  '}${line}${at < lines.length - 1 ? ' \\' : ''}`),
    ...(more > 0 ? [`and ${more} more, which --json names`] : []),
  ]
}

/** Of a count of 100,000. */
const INDENT_MAX = 10

function aligned(counted: readonly Counted[], columns: number): readonly string[] {
  const digits = Math.max(0, ...counted.map(({ count }) => String(count).length))
  const indent = ' '.repeat(digits + 4)
  return counted.flatMap(({ count, what, instead = [] }) => [
    ...wrap(what, columns - indent.length).map((line, index) =>
      index === 0 ? `  ${String(count).padStart(digits)}  ${line}` : `${indent}${line}`,
    ),
    ...instead.map((line) => `${indent}${line}`),
  ])
}

async function namesOf({ engine }: Store, ids: readonly string[]): Promise<string> {
  const names: string[] = []
  const short = shortIds(ids)
  for (const id of ids.slice(0, NAMED)) {
    const [run] = await engine.runs.list({ idPrefix: id, limit: 1 })
    names.push(run?.key === undefined ? short(id) : safe(nameOf(run)))
  }
  return listed(names, ids.length)
}

function listed(names: readonly string[], count: number): string {
  return [...names, ...(count > names.length ? ['…'] : [])].join(', ')
}

/** `44 ended since 16:36 UTC as failed or compensated`. */
async function selected({ flags, out }: Call, found: DryRun): Promise<string> {
  const { dry, action, runs, store } = found
  const { matched } = dry
  const count = `${dry.more ? 'the newest ' : ''}${matched}`
  if (Array.isArray(runs)) return `${count} ${matched === 1 ? 'run' : 'runs'}`
  const { createdAfter, createdBefore, finishedAfter, finishedBefore } = runs as Filter
  const [from, to] = [createdAfter ?? finishedAfter, createdBefore ?? finishedBefore]
  const now = from === undefined && to === undefined ? undefined : await store.now()
  const shown = (at: Date) => moment(at, now!, out)
  const since = from === undefined ? '' : ` since ${shown(from)}`
  const times = `${since}${to === undefined ? '' : ` before ${shown(to)}`}`
  const given: readonly string[] = flags.status ?? action.selects
  const statuses = given.join(', ').replace(/, ([^,]*)$/, ' or $1')
  if (action.byEnd) return `${count} ended${times} as ${safe(statuses)}`
  return `${count} ${safe(statuses)} ${matched === 1 ? 'run' : 'runs'}${times === '' ? '' : `, created${times}`}`
}

type Filter = {
  readonly [Name in 'createdAfter' | 'createdBefore' | 'finishedAfter' | 'finishedBefore']?: Date
}

function more(call: Call, runs: RunsToChange): readonly string[] {
  if (Array.isArray(runs)) return []
  const limit = Math.min((call.flags.limit ?? LIMIT_DEFAULT) * 10, LIMIT_MAX)
  return [
    'More runs match. Do these and repeat it, or take more at once:',
    `  belay ${typedCommand(call, '--limit', String(limit))}`,
  ]
}
