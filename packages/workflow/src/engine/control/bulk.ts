import type { Adapter, RunStatus } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import type { RunLookup } from '../run-reference.ts'
import type { Action } from './action.ts'
import type { Actor } from './change-of.ts'
import { type CancelOptions, type Control, checkCompensate } from './control.ts'
import { type ActionOptions, checkActionOptions } from './options.ts'
import { isForward, runRefusal } from './refusal.ts'
import { eachPage, isList, type SelectedRun, type Selection } from './selected-runs.ts'

const LIMIT_DEFAULT = 1_000
const LIMIT_MAX = 100_000

export interface BulkOptions extends ActionOptions {
  /** True tells what would be done, and does nothing. Default false. */
  readonly dryRun?: boolean | undefined
  /** Runs at most, newest first, 1 to 100,000. Default 1,000; of a list that names the runs, all of them. */
  readonly limit?: number | undefined
}

/** What an action came to over many runs. */
export interface BulkResult {
  /** Runs that were found. */
  readonly matched: number
  /** Runs that the action changed, or in a dry run would change. */
  readonly changed: number
  /** Those runs. */
  readonly runIds: readonly string[]
  /** Runs that the action doesn't fit, and why. */
  readonly refused: readonly { readonly runId: string; readonly why: string }[]
  /** References of a list that name no run: ids, or workflows and keys. */
  readonly unknown: readonly (string | { readonly workflow: string; readonly key: string })[]
  /** True when there are more runs than the limit. */
  readonly more: boolean
}

type BulkAction = Extract<Action['type'], 'pause' | 'resume' | 'retry'>

// A filter that names no status means the runs that the action is for; else each ended run of years would be looked at and refused.
const STATUSES: Readonly<Record<BulkAction | 'cancel', readonly RunStatus[]>> = {
  pause: ['scheduled', 'running', 'waiting'],
  resume: ['paused'],
  retry: ['failed', 'compensated'],
  cancel: ['scheduled', 'running', 'waiting', 'paused'],
}

/** Pauses, resumes or retries runs one by one: each is decided on as it stands, and what is refused hinders no other. */
export async function actOnMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  action: BulkAction,
  selection: Selection,
  options: BulkOptions,
): Promise<BulkResult> {
  const method = `${action}Many()`
  const by = checkActionOptions(method, options, ['dryRun', 'limit'])
  const { dryRun, limit } = checkBulk(method, selection, options)
  const result = new Result()
  const more = await eachPage(parts.adapter, selectionFor(action, selection), {
    limit,
    onUnknown: (lookup) => result.miss(lookup),
    visit: async (page) => {
      for (const { runId } of page) await actOnOne(parts.control, result, { runId, action, by, dryRun })
    },
  })
  return result.of(more)
}

async function actOnOne(
  control: Control,
  result: Result,
  one: { readonly runId: string; readonly action: BulkAction; readonly by: Actor; readonly dryRun: boolean },
): Promise<void> {
  const { runId, by } = one
  const action = { type: one.action }
  try {
    const acted = one.dryRun
      ? await control.wouldAct(runId, action, by)
      : await control.act(runId, action, by)
    result.add(runId, acted.changed)
  } catch (error) {
    // A run that is gone by now was pruned meanwhile: there is nothing to tell of it.
    if (BelayError.is(error) && error.code === 'unknown_run') return
    if (!BelayError.is(error) || error.code !== 'action_refused') throw error
    result.refuse(runId, error.message)
  }
}

/** Cancels runs, a page in one statement. */
export async function cancelMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  selection: Selection,
  options: BulkOptions & CancelOptions,
): Promise<BulkResult> {
  const by = checkActionOptions('cancelMany()', options, ['dryRun', 'limit', 'compensate'])
  const compensate = checkCompensate('cancelMany()', options)
  const { dryRun, limit } = checkBulk('cancelMany()', selection, options)
  const result = new Result()
  const visit = async (page: readonly SelectedRun[]) => {
    const fitting = page.filter(isForward)
    for (const run of page) {
      if (!fitting.includes(run)) result.refuse(run.runId, runRefusal(run, 'cancelled').message)
    }
    const runIds = fitting.map(({ runId }) => runId)
    const stopped = new Set(dryRun ? runIds : await parts.control.cancelAll(runIds, by, compensate))
    for (const runId of runIds) result.add(runId, stopped.has(runId))
  }
  const onUnknown = (lookup: RunLookup) => result.miss(lookup)
  const more = await eachPage(parts.adapter, selectionFor('cancel', selection), { limit, visit, onUnknown })
  return result.of(more)
}

class Result {
  #matched = 0
  readonly #runIds: string[] = []
  readonly #refused: { readonly runId: string; readonly why: string }[] = []
  readonly #unknown: (string | { readonly workflow: string; readonly key: string })[] = []

  add(runId: string, changed: boolean): void {
    this.#matched += 1
    if (changed) this.#runIds.push(runId)
  }

  refuse(runId: string, why: string): void {
    this.#matched += 1
    this.#refused.push({ runId, why })
  }

  miss(lookup: RunLookup): void {
    this.#unknown.push('runId' in lookup ? lookup.runId : lookup)
  }

  of(more: boolean): BulkResult {
    const [runIds, refused, unknown] = [this.#runIds, this.#refused, this.#unknown]
    return { matched: this.#matched, changed: runIds.length, runIds, refused, unknown, more }
  }
}

function selectionFor(action: BulkAction | 'cancel', selection: Selection): Selection {
  return isList(selection) ? selection : { ...selection, status: selection.status ?? STATUSES[action] }
}

function checkBulk(method: string, selection: Selection, options: BulkOptions) {
  const named = isList(selection) ? selection.length : undefined
  if (named !== undefined && named > LIMIT_MAX) {
    const message = `runs.${method} takes a list of up to ${LIMIT_MAX} runs; got ${named}. Give it in parts.`
    throw new BelayError('invalid_option', message)
  }
  // An empty list is as good as one of one run.
  const { dryRun = false, limit = named === undefined ? LIMIT_DEFAULT : Math.max(1, named) } = options
  if (typeof dryRun !== 'boolean') {
    throw new BelayError('invalid_option', `${method}: dryRun must be true or false; got ${typeof dryRun}.`)
  }
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return { dryRun, limit }
  throw new BelayError(
    'invalid_option',
    `${method}: limit must be a whole number from 1 to ${LIMIT_MAX}; got ${limit}.`,
  )
}
