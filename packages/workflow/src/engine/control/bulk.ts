import type { Adapter, RunRecord, RunStatus, StoredRun } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import type { Action } from './action.ts'
import type { Actor } from './change-of.ts'
import { type CancelOptions, type Control, checkCompensate } from './control.ts'
import { type ActionOptions, checkActionOptions } from './options.ts'
import { isForward, runRefusal } from './refusal.ts'

const PAGE = 200
const LIMIT_DEFAULT = 1_000
const LIMIT_MAX = 100_000

export interface BulkOptions extends ActionOptions {
  /** True tells what would be done, and does nothing. Default false. */
  readonly dryRun?: boolean | undefined
  /** Runs at most, newest first, 1 to 100,000. Default 1,000. */
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
  /** True when there are more runs than the limit. */
  readonly more: boolean
}

/** Runs by page, newest first. The engine's own filter, without its page. */
export interface BulkFilter {
  readonly workflow?: string | undefined
  readonly status?: readonly RunStatus[] | undefined
  readonly key?: string | undefined
}

type BulkAction = Extract<
  Action,
  { type: 'pause' | 'resume' | 'retry' | 'migrate' | 'retry_compensation' | 'skip_compensation' }
>

// A filter that names no status means the runs that the action is for; else each ended run of years would be looked at and refused.
const STATUSES: Readonly<Record<BulkAction['type'] | 'cancel', readonly RunStatus[]>> = {
  pause: ['scheduled', 'running', 'waiting'],
  resume: ['paused'],
  retry: ['failed', 'compensated'],
  cancel: ['scheduled', 'running', 'waiting', 'paused'],
  migrate: ['scheduled', 'running', 'waiting', 'paused'],
  // Of an undo that is under way the next try may be brought forward or skipped, but only for runs that are asked for.
  retry_compensation: ['compensation_failed'],
  skip_compensation: ['compensation_failed'],
}

/** Acts on runs one by one: each is decided on as it stands, and what is refused hinders no other. */
export async function actOnMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  method: string,
  action: BulkAction,
  filter: BulkFilter,
  options: BulkOptions,
): Promise<BulkResult> {
  const by = checkActionOptions(method, options, ['dryRun', 'limit'])
  const { dryRun, limit } = checkBulk(method, options)
  const result = new Result()
  const more = await eachPage(parts.adapter, filterFor(action.type, filter), limit, async (page) => {
    for (const { runId } of page) await actOnOne(parts.control, result, { runId, action, by, dryRun })
  })
  return result.of(more)
}

/** Moves runs to a version of their workflow: those of that workflow, unless the filter names another. */
export async function migrateMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  filter: BulkFilter,
  workflow: WorkflowDefinition,
  options: BulkOptions,
): Promise<BulkResult> {
  // Before the definition is saved, for a call that is refused leaves nothing.
  checkBulk('migrateMany()', options)
  checkActionOptions('migrateMany()', options, ['dryRun', 'limit'])
  const definition = await parts.control.savedDefinition('migrateMany()', workflow)
  const wanted = { ...filter, workflow: filter.workflow ?? definition.name }
  return actOnMany(parts, 'migrateMany()', { type: 'migrate', definition }, wanted, options)
}

async function actOnOne(
  control: Control,
  result: Result,
  one: {
    readonly runId: string
    readonly action: Action
    readonly by: Actor
    readonly dryRun: boolean
  },
): Promise<void> {
  const { runId, action, by } = one
  try {
    const acted = one.dryRun
      ? await control.wouldAct(runId, action, by)
      : await control.act(runId, action, by)
    result.add(runId, acted.changed)
  } catch (error) {
    // A run that is gone by now was pruned meanwhile: there is nothing to tell of it.
    if (!BelayError.is(error)) throw error
    if (error.code === 'unknown_run') return
    // A step that a run's version doesn't have: another version may.
    const isRefused = error.code === 'action_refused' || isUnknownStep(action, error)
    if (!isRefused) throw error
    result.refuse(runId, error.message)
  }
}

function isUnknownStep(action: Action, { code }: BelayError): boolean {
  return 'step' in action && code === 'invalid_option'
}

/** Cancels runs, a page in one statement. */
export async function cancelMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  filter: BulkFilter,
  options: BulkOptions & CancelOptions,
): Promise<BulkResult> {
  const by = checkActionOptions('cancelMany()', options, ['dryRun', 'limit', 'compensate'])
  const compensate = checkCompensate('cancelMany()', options)
  const { dryRun, limit } = checkBulk('cancelMany()', options)
  const result = new Result()
  const more = await eachPage(parts.adapter, filterFor('cancel', filter), limit, async (page) => {
    const fitting = page.filter((run) => isForward(toStored(run)))
    for (const run of page) {
      if (fitting.includes(run)) continue
      // It may have been stopped while it was paused, and its undo may have begun: what is stored tells.
      const isPaused = run.status === 'paused'
      const action = { type: 'cancel', compensate } as const
      if (isPaused) await actOnOne(parts.control, result, { runId: run.runId, action, by, dryRun })
      else result.refuse(run.runId, runRefusal(toStored(run), 'cancelled').message)
    }
    const runIds = fitting.map(({ runId }) => runId)
    const stopped = new Set(dryRun ? runIds : await parts.control.cancelAll(runIds, by, compensate))
    for (const runId of runIds) result.add(runId, stopped.has(runId))
  })
  return result.of(more)
}

/** A run that was stopped has a cause. */
function toStored(run: RunRecord): StoredRun {
  return { ...run, openSteps: 0, stop: run.cause === null ? null : 'failure', endsAs: null }
}

class Result {
  #matched = 0
  readonly #runIds: string[] = []
  readonly #refused: { readonly runId: string; readonly why: string }[] = []

  add(runId: string, changed: boolean): void {
    this.#matched += 1
    if (changed) this.#runIds.push(runId)
  }

  refuse(runId: string, why: string): void {
    this.#matched += 1
    this.#refused.push({ runId, why })
  }

  of(more: boolean): BulkResult {
    const runIds = this.#runIds
    return { matched: this.#matched, changed: runIds.length, runIds, refused: this.#refused, more }
  }
}

function filterFor(action: BulkAction['type'] | 'cancel', filter: BulkFilter): BulkFilter {
  return { ...filter, status: filter.status ?? STATUSES[action] }
}

/** Tells whether there are more runs than the limit. */
async function eachPage(
  adapter: Adapter,
  filter: BulkFilter,
  limit: number,
  visit: (page: readonly RunRecord[]) => Promise<void>,
): Promise<boolean> {
  await adapter.open()
  let before: string | undefined
  for (let left = limit; ; left -= PAGE) {
    // One more than wanted tells whether there are more.
    const wanted = Math.min(PAGE, left)
    const found = await adapter.listRuns({ ...filter, before, limit: wanted + 1 })
    const page = found.slice(0, wanted)
    await visit(page)
    if (found.length <= wanted) return false
    if (left <= PAGE) return true
    before = page.at(-1)!.runId
  }
}

function checkBulk(method: string, { dryRun = false, limit = LIMIT_DEFAULT }: BulkOptions) {
  if (typeof dryRun !== 'boolean') {
    throw new BelayError('invalid_option', `${method}: dryRun must be true or false; got ${typeof dryRun}.`)
  }
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return { dryRun, limit }
  throw new BelayError(
    'invalid_option',
    `${method}: limit must be a whole number from 1 to ${LIMIT_MAX}; got ${limit}.`,
  )
}
