import type {
  ActionOptions,
  BulkOptions,
  BulkResult,
  RunHandle,
  RunSummary,
  RunsToChange,
} from '@belay/workflow'
import type { RunStatus } from '@belay/workflow/adapter'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { Store } from '../store/store.ts'
import type { ExitStatus } from '../table/verb.ts'
import { actOnMany } from './act-on-many.ts'
import { actOnOne } from './act-on-one.ts'
import { assertReason } from './actor.ts'
import { hasFilter } from './filter.ts'

/** What a verb does to a run. */
export interface ActionOnRun {
  readonly needsReason?: true
  /** The run goes on with it, or is undone: there is something to follow. */
  readonly isFollowed?: true
  /** Null if there was nothing to change. */
  one(
    run: RunHandle,
    on: { readonly store: Store; readonly found: RunSummary; readonly by: ActionOptions },
  ): Promise<Change | null>
}

/** What it also does to many. */
export interface ActionOnRuns extends ActionOnRun {
  /** After "Type 41 to": `retry them`. */
  readonly them: string
  /** `retried` */
  readonly done: string
  /** What a filter without a status selects. */
  readonly selects: readonly RunStatus[]
  /** `--since` and `--until` mean the end of a run. */
  readonly byEnd?: true
  many(store: Store, runs: RunsToChange, options: BulkOptions): Promise<BulkResult>
}

/** What an action changed. */
export interface Change {
  /** Undefined: the run itself. */
  readonly step?: string
  readonly from: string
  readonly to: string
  /** The steps that may begin now, or may be undone now. */
  readonly next?: readonly string[]
}

/** What of many runs a call is about. */
export type Aim =
  | { readonly run: string }
  | { readonly runs: readonly string[] }
  | { readonly from: 'filter' | 'stdin' }

/** The runs of a call and what else was typed after its verb: with a filter no run is typed. Throws a `CliError` with status 2. */
export function aimed(
  { args, flags }: Pick<Call, 'args' | 'flags'>,
  other?: 'step' | 'n',
): { readonly aim: Aim; readonly operand: string | undefined } {
  const { run } = args
  const operand = other === undefined ? undefined : args[other]
  if (hasFilter(flags)) {
    if (operand !== undefined || (other === undefined && run !== undefined)) {
      throw misused('A run and filters are both given. Keep one of them.')
    }
    return { aim: { from: 'filter' }, operand: run }
  }
  if (run === undefined)
    throw misused('Run is missing. Name one, or give filters like --workflow and --since.')
  return { aim: run === '-' ? { from: 'stdin' } : { run }, operand }
}

/** Throws a `CliError` with status 2 if the step is missing. */
export function stepOf(operand: string | undefined): string {
  if (operand === undefined) throw misused('Step is missing.')
  return operand
}

/** Does it to the runs of the call: to one at once, to many after a dry run and a question. */
export async function act(call: Call, aim: Aim, action: ActionOnRuns): Promise<ExitStatus> {
  const isDry = call.flags['dry-run'] === true
  if (action.needsReason && !isDry) assertReason(call)
  return 'run' in aim && !isDry && call.flags.expect === undefined
    ? actOnOne(call, aim.run, action)
    : actOnMany(call, aim, action)
}

/** The same for what is done to one run only. */
export async function actOn(call: Call, action: ActionOnRun): Promise<ExitStatus> {
  if (action.needsReason) assertReason(call)
  return actOnOne(call, call.args['run']!, action)
}

/** How a whole run changed; null if it did not. */
export async function statusChange(
  store: Store,
  found: RunSummary,
  isChanged: boolean,
): Promise<Change | null> {
  if (!isChanged) return null
  const [now] = await store.engine.runs.list({ idPrefix: found.id, limit: 1 })
  return { from: found.status, to: now?.status ?? found.status }
}
