import type { RunSummary } from '@belay/workflow'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import type { Store } from '../store/store.ts'
import { actOnMany } from './act-on-many.ts'
import { actOnOne } from './act-on-one.ts'
import type { ActionOnRun, ActionOnRuns, Aim, Change } from './action.ts'
import { assertReason } from './actor.ts'
import { hasFilter } from './filter.ts'

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
