import { type Adapter, type RunStatus, SHOWN_OF_RUNNING, storedStatus } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import {
  abortSignal,
  callback,
  checkOptions,
  type OptionTable,
  wholeNumber,
  yesOrNo,
} from '../../options/index.ts'
import { sendApart } from '../base/send-apart.ts'
import type { Action } from './action.ts'
import { type BulkProgress, type BulkResult, BulkResults } from './bulk-result.ts'
import type { Actor } from './change-of.ts'
import { CANCEL_OPTIONS, type CancelOptions, type Control } from './control.ts'
import { ACTION_OPTIONS, type ActionOptions, actorOf } from './options.ts'
import { isForward, runRefusal } from './refusal.ts'
import { eachPage, isList, type SelectedRun, type Selection } from './selected-runs.ts'

const LIMIT_DEFAULT = 1_000
const LIMIT_MAX = 100_000

const BULK_OPTIONS = {
  ...ACTION_OPTIONS,
  dryRun: { sets: 'whether to report changes without making them', takes: yesOrNo, default: false },
  limit: { sets: 'how many runs at most', takes: wholeNumber(1, LIMIT_MAX) },
  signal: { sets: 'the signal that ends the call early', takes: abortSignal },
  onProgress: {
    sets: 'the function called after each run',
    takes: callback<NonNullable<BulkOptions['onProgress']>>(),
  },
} satisfies OptionTable

const CANCEL_MANY_OPTIONS = { ...BULK_OPTIONS, ...CANCEL_OPTIONS } satisfies OptionTable

export interface BulkOptions extends ActionOptions {
  /** True reports what would change and changes nothing. Default false. */
  readonly dryRun?: boolean | undefined
  /** The most runs to act on, newest first, 1 to 100,000. Default 1,000; for a list, all of it. */
  readonly limit?: number | undefined
  /** Ends the call after the run, or the page of a cancellation, that is being changed. It then resolves with `more: true`. */
  readonly signal?: AbortSignal | undefined
  /** Called after each run, or after each page of a cancellation. If it throws, the call does; what was changed stays. */
  readonly onProgress?: ((progress: BulkProgress) => void | Promise<void>) | undefined
}

type BulkAction = Extract<
  Action,
  {
    type:
      | 'pause'
      | 'resume'
      | 'retry'
      | 'set_priority'
      | 'migrate'
      | 'retry_compensation'
      | 'skip_compensation'
  }
>

// The statuses of a filter that names none. Without this default, every ended run in the history would be read and refused.
const STATUSES: Readonly<Record<BulkAction['type'] | 'cancel', readonly RunStatus[]>> = {
  pause: SHOWN_OF_RUNNING,
  resume: ['paused'],
  retry: ['failed', 'compensated'],
  set_priority: [...SHOWN_OF_RUNNING, 'paused'],
  cancel: [...SHOWN_OF_RUNNING, 'paused'],
  migrate: [...SHOWN_OF_RUNNING, 'paused'],
  // Runs being undone also allow these two actions, but only if the filter or list asks for them.
  retry_compensation: ['compensation_failed'],
  skip_compensation: ['compensation_failed'],
}

/** Acts on runs one by one. Each decision uses the run's current state. A refusal does not stop the others. */
export async function actOnMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  call: string,
  action: BulkAction,
  selection: Selection,
  options: BulkOptions,
): Promise<BulkResult> {
  const { dryRun, limit: most, signal, onProgress, ...own } = checkOptions(call, options, BULK_OPTIONS)
  const by = actorOf(own)
  const limit = limitOf(call, selection, most)
  const result = new BulkResults()
  const more = await eachPage(parts.adapter, selectionFor(action.type, selection), {
    ...{ limit, signal },
    onUnknown: (lookup) => result.miss(lookup),
    onUnread: (runId, error) => result.refuse(runId, error),
    visit: async (page) => {
      for (const { runId } of page) {
        if (signal?.aborted === true) return
        await actOnOne(parts.control, result, { runId, action, by, dryRun })
        await onProgress?.(result.progress)
      }
    },
  })
  return result.of(more)
}

/** Moves runs to a version of their workflow. A filter without a workflow selects runs of this workflow. */
export async function migrateMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  selection: Selection,
  workflow: WorkflowDefinition,
  options: BulkOptions,
): Promise<BulkResult> {
  // Check before saving the definition: a refused call must leave nothing behind.
  const call = 'runs.migrateMany()'
  limitOf(call, selection, checkOptions(call, options, BULK_OPTIONS).limit)
  const definition = await parts.control.savedDefinition(call, workflow)
  const wanted = isList(selection)
    ? selection
    : { ...selection, workflow: selection.workflow ?? [definition.name] }
  return actOnMany(parts, call, { type: 'migrate', definition }, wanted, options)
}

async function actOnOne(
  control: Control,
  result: BulkResults,
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
    // A run that is missing now was pruned meanwhile: there is nothing to report.
    if (BelayError.is(error) && error.code === 'unknown_run') return
    // Runs of other versions may have the step: refuse only this run.
    if (BelayError.is(error) && isUnknownStep(action, error)) result.refuse(runId, error)
    else result.fail(runId, error)
  }
}

function isUnknownStep(action: Action, { code }: BelayError): boolean {
  return 'step' in action && code === 'invalid_option'
}

/** Cancels runs, one statement for each page. Runs that cannot be cancelled are found in halves, and keep no others. */
export async function cancelMany(
  parts: { readonly adapter: Adapter; readonly control: Control },
  selection: Selection,
  options: BulkOptions & CancelOptions,
): Promise<BulkResult> {
  const call = 'runs.cancelMany()'
  const checked = checkOptions(call, options, CANCEL_MANY_OPTIONS)
  const { dryRun, limit: most, compensate, signal, onProgress, ...own } = checked
  const by = actorOf(own)
  const limit = limitOf(call, selection, most)
  const result = new BulkResults()
  const visit = async (page: readonly SelectedRun[]) => {
    const goesOn = (run: SelectedRun) => isForward(asStored(run))
    const fitting = page.filter((run) => goesOn(run) && !(dryRun && isPaused(run)))
    const runIds = fitting.map(({ runId }) => runId)
    const stopped = new Set(dryRun ? runIds : [])
    const failed = new Map<string, unknown>()
    const fail = (runId: string, error: unknown) => void failed.set(runId, error)
    await sendApart(dryRun ? [] : runIds, {
      send: async (part) => {
        for (const runId of await parts.control.cancelAll(part, by, compensate)) stopped.add(runId)
      },
      refused: fail,
      heldUp: fail,
      unanswered: (_, error) => {
        throw error
      },
    })
    for (const run of page) {
      const { runId } = run
      // A paused run may have been stopped, and its undo may have begun: only its full state tells.
      const action = { type: 'cancel', compensate } as const
      if (stopped.has(runId)) result.add(runId, true)
      else if (failed.has(runId)) result.fail(runId, failed.get(runId))
      else if (isPaused(run)) await actOnOne(parts.control, result, { runId, action, by, dryRun })
      else if (goesOn(run)) result.add(runId, false)
      else result.refuse(runId, runRefusal(asStored(run), 'cancelled'))
    }
    if (page.length > 0) await onProgress?.(result.progress)
  }
  const more = await eachPage(parts.adapter, selectionFor('cancel', selection), {
    ...{ limit, visit, signal },
    onUnknown: (lookup) => result.miss(lookup),
    onUnread: (runId, error) => result.refuse(runId, error),
  })
  return result.of(more)
}

/** As far as a list tells: it says neither whether a run was stopped, nor how its undo ends. */
function asStored({ runId, status }: SelectedRun) {
  return { runId, status: storedStatus(status), stop: null, endsAs: null }
}

function isPaused({ status }: SelectedRun): boolean {
  return status === 'paused'
}

function selectionFor(action: BulkAction['type'] | 'cancel', selection: Selection): Selection {
  return isList(selection) ? selection : { ...selection, status: selection.status ?? STATUSES[action] }
}

function limitOf(call: string, selection: Selection, limit: number | undefined): number {
  if (!isList(selection)) return limit ?? LIMIT_DEFAULT
  if (selection.length > LIMIT_MAX) {
    const message = `${call} takes a list of up to ${LIMIT_MAX} runs; got ${selection.length}. Give it in parts.`
    throw new BelayError('invalid_option', message)
  }
  return limit ?? selection.length
}
