import {
  countItems,
  type DatedRun,
  isItem,
  type ResultOfStep,
  type RunRecord,
  type RunResult,
  type RunStatus,
  type SkipReason,
  type StepRecord,
  type StepStatus,
  skipOf,
  templateOf,
  type UndoRecord,
} from '../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import { isOpenerName } from '../../definition/map-draft.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { fromJsonText } from '../base/payload.ts'
import { settledText } from '../base/settled-text.ts'
import { progressOf, type StepProgress, valuesByKey } from '../base/told-values.ts'
import { kindOf, type WorkflowStep } from '../base/workflow-steps.ts'
import type { RunCalls } from './collected-calls.ts'
import { type MapState, mapProgress, mapStates, openersByMap } from './map-state.ts'
import type { SeenRun } from './run-feed.ts'

/** The state of a run when it was read. */
export interface RunSummary {
  readonly id: string
  readonly workflow: string
  readonly version: number
  readonly key: string | undefined
  readonly status: RunStatus
  readonly input: unknown
  /** Why the run stopped. Undefined while it goes forward and if it completed. A paused run with a cause is undone once it is resumed. */
  readonly cause: RunCause | undefined
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
  /** When the run may begin, if it has a start time. */
  readonly startAt: Date | undefined
  /** When the run fails unless it has ended. */
  readonly deadlineAt: Date | undefined
  /** The tags given at its start; empty if none. */
  readonly tags: readonly string[]
  /** 0 if none was set. See `RunOptions.priority`. */
  readonly priority: number
  /** The id of the run that it was started for. `runs.list({ parentId })` finds a run's children. */
  readonly parentId: string | undefined
  /** When it was read, on the store's clock: what ages and countdowns are computed from. */
  readonly readAt: Date
}

/** A run with its steps, in topological order, and after them items of its maps: not more than were asked for. */
export interface RunSnapshot extends RunSummary {
  readonly steps: readonly StepSnapshot[]
  /** How far each map is, by its name. Counts all its items. */
  readonly maps: Readonly<Record<string, MapState>>
  /** The latest value of each key that its steps published. */
  readonly values: Readonly<Record<string, unknown>>
  /** Of a workflow that collects its starts: the calls that the run carries. Only `runs.get()` and a handle's `status()` tell it. */
  readonly collected?: RunCalls | undefined
}

export interface StepSnapshot {
  /** Of an item of a map, the map's with the item's key, like `resize[3]`. The step that decided the items is called `resize[]`. */
  readonly name: string
  /** Only of an item of a map. */
  readonly itemKey?: string
  /** What the step does, as in `engine.workflows.get()`. An item is `work`, or a `child`. */
  readonly kind: WorkflowStep['kind']
  readonly status: StepStatus
  /** From 1. Grows when the step was undone and runs again; its idempotency key then changes. */
  readonly round: number
  /**
   * The attempts begun in this round, including the current one; 0 before the first. For a poll, those of its newest check. This and the following
   * fields describe the step's forward attempts; `undo` describes its compensation.
   */
  readonly attempts: number
  /** How many of its attempts may fail, by its retry policy. Undefined if this engine does not have the run's version: policies are code, and not stored. */
  readonly attemptsMax: number | undefined
  /** How many of these attempts failed, and how many lost their worker. An operator's retry resets `failures`. */
  readonly failures: number
  readonly losses: number
  /** The worker that holds the step or ended its newest attempt, forward or undo. */
  readonly workerId: string | undefined
  readonly output: unknown
  /** The newest error, even if a later attempt completed. */
  readonly error: SerialisedError | undefined
  /** True if its handler succeeded, but its output could not be stored (`error` says why): the step took effect but did not complete. */
  readonly succeeded: boolean
  /** True if its definition says that nothing can undo its effect. */
  readonly irreversible: boolean
  /** True if its run was undone, and what the step's child did was kept: the child completed, and keeps its effects (`compensate: false`). */
  readonly kept: boolean
  /** Why the step was skipped; undefined for any other step. */
  readonly skip: StepSkip | undefined
  /** When the newest attempt began and ended. */
  readonly startedAt: Date | undefined
  readonly finishedAt: Date | undefined
  /** Its undo, once planned; undefined for a step that is not undone. */
  readonly undo: StepUndo | undefined
  /**
   * For a ready or waiting step: when it is due, by its timer, its timeout or a retry's delay. Undefined if it is due now or waits without a
   * timeout.
   */
  readonly dueAt: Date | undefined
  /** When it began to wait. */
  readonly waitingSince: Date | undefined
  /** When its signal came. */
  readonly signalledAt: Date | undefined
  /** What its handlers told last of their progress, in any attempt and direction. Of a map, how many of its items have ended. */
  readonly progress: StepProgress | undefined
}

/**
 * Why a step was skipped. `when`: its `when` returned false. `case`: the `choice` had another case, here named. `dependency`: that step was skipped.
 * `operator`: somebody called `skipStep()`, and the output is a stand-in.
 */
export type StepSkip = SkipReason | { readonly because: 'operator' }

/** The undo of a step. */
export interface StepUndo {
  /** The attempts of the compensation that were begun, including the current one. */
  readonly attempts: number
  readonly failures: number
  readonly losses: number
  /** The newest error of the compensation, even if a later attempt succeeded. */
  readonly error: SerialisedError | undefined
  /** When the newest attempt began and ended. */
  readonly startedAt: Date | undefined
  readonly finishedAt: Date | undefined
  /** True if an operator marked it as undone, with `skipCompensation()`. */
  readonly skipped: boolean
  /** When its next attempt is due, after a failed one. Undefined if it is due now, waits for other undos, or is not open. */
  readonly dueAt: Date | undefined
}

export function runSummary(run: DatedRun): RunSummary {
  return {
    id: run.runId,
    workflow: run.workflow,
    version: run.version,
    key: run.key ?? undefined,
    status: run.status,
    input: fromJsonText(run.input),
    cause: fromJsonText(run.cause) as RunCause | undefined,
    createdAt: new Date(run.createdAt),
    finishedAt: instant(run.finishedAt),
    startAt: instant(run.startAt),
    deadlineAt: instant(run.deadlineAt),
    tags: run.tags,
    priority: run.priority ?? 0,
    parentId: run.parent?.runId,
    readAt: new Date(run.readAt),
  }
}

export function runSnapshot({
  run,
  steps,
  values,
  parents,
  shapes,
  workflow,
  itemCounts = countItems(steps),
}: Omit<SeenRun, 'mayFail'>): RunSnapshot {
  const openers = openersByMap(steps)
  const progress = ({ step, name }: StepRecord) => {
    const opener = openers.get(name)
    return opener === undefined ? progressOf(values, step) : mapProgress(opener, itemCounts)
  }
  // An undo that has undone nothing leaves no trace but the status.
  const isUndone = run.status === 'compensated' || steps.some(({ undo }) => undo !== null)
  return {
    ...runSummary(run),
    steps: steps.map((step) => ({
      ...stepSnapshot(step),
      kind: kindOf(shapes, step.step),
      attemptsMax: attemptsMaxOf(workflow, step.step),
      kept: isUndone && parents.has(templateOf(step.step)) && isKept(step),
      progress: progress(step),
    })),
    maps: mapStates(steps, itemCounts),
    values: valuesByKey(values),
  }
}

/** Of a run that was undone: the undo of a step that began its child ends as `compensated`, unless the child keeps its effects. */
function isKept({ status, startedAt, itemKey, name }: StepRecord): boolean {
  if (itemKey === undefined && isOpenerName(name)) return false
  return status === 'completed' || ((status === 'failed' || status === 'cancelled') && startedAt !== null)
}

/** The outputs of a completed run, by step. Those of a map's items are together in the map's. */
export function outputsOf({ steps, mayFail }: SeenRun): Readonly<Record<string, unknown>> {
  const own = steps.filter(({ name, itemKey }) => itemKey === undefined && !isOpenerName(name))
  return Object.fromEntries(own.map((step) => [step.name, outputOf(step, mayFail)]))
}

/** The same of a result, with the names of its definition's steps. */
export function outputsOfResult(
  { steps }: RunResult,
  { names, mayFail }: { readonly names: readonly string[]; readonly mayFail: ReadonlySet<number> },
): Readonly<Record<string, unknown>> {
  const own = steps.filter(({ step }) => !isOpenerName(names[step]!))
  return Object.fromEntries(own.map((row) => [names[row.step]!, outputOf(row, mayFail)]))
}

/** The outputs of the steps of an ended run that have one: also of those that were undone since. */
export function knownOutputsOf({ steps, mayFail }: SeenRun): Readonly<Record<string, unknown>> {
  const own = steps.filter(
    (step) => step.itemKey === undefined && !isOpenerName(step.name) && gaveOutput(step, mayFail),
  )
  return Object.fromEntries(own.map((step) => [step.name, outputOf(step, mayFail)]))
}

function gaveOutput({ step, status, undoOf }: StepRecord, mayFail: ReadonlySet<number>): boolean {
  const ended = undoOf ?? status
  return ended === 'completed' || ended === 'skipped' || (ended === 'failed' && mayFail.has(step))
}

/** What a step that has ended gives to callers: its output, or a `Settled` if its run continues past its failure. */
export function outputOf(
  row: ResultOfStep & { readonly undoOf?: StepRecord['undoOf'] },
  mayFail: ReadonlySet<number>,
): unknown {
  const { step, status, undoOf, branch, output, error } = row
  if (!mayFail.has(step)) return fromJsonText(output)
  return fromJsonText(settledText({ failed: (undoOf ?? status) === 'failed', branch, output, error }))
}

function attemptsMaxOf(workflow: WorkflowDefinition | undefined, step: number): number | undefined {
  const definition = workflow?.steps[templateOf(step)]
  const map = definition?.map
  const retried = isItem(step) && map != null && 'item' in map ? map.item : definition
  return retried?.retry.attempts
}

function stepSnapshot(step: StepRecord): Omit<StepSnapshot, 'kind' | 'attemptsMax' | 'progress' | 'kept'> {
  return {
    name: step.name,
    ...(step.itemKey === undefined ? {} : { itemKey: step.itemKey }),
    status: step.status,
    round: step.round,
    attempts: step.attempts,
    failures: step.failures,
    losses: step.losses,
    workerId: step.workerId ?? undefined,
    output: fromJsonText(step.output),
    error: fromJsonText(step.error) as SerialisedError | undefined,
    succeeded: step.succeeded,
    irreversible: step.irreversible === true,
    skip: stepSkip(step),
    startedAt: instant(step.startedAt),
    finishedAt: instant(step.finishedAt),
    undo: step.undo === null ? undefined : stepUndo(step, step.undo),
    dueAt: step.status === 'ready' || step.status === 'waiting' ? instant(step.availableAt) : undefined,
    waitingSince: instant(step.waitingSince),
    signalledAt: instant(step.signalledAt),
  }
}

function stepSkip({ status, undoOf, branch }: StepRecord): StepSkip | undefined {
  if (status !== 'skipped' && undoOf !== 'skipped') return undefined
  return skipOf(branch) ?? { because: 'operator' }
}

function stepUndo({ status, workerId, availableAt }: StepRecord, undo: UndoRecord): StepUndo {
  const waits = status === 'compensating' && workerId === null
  return {
    attempts: undo.attempts,
    failures: undo.failures,
    losses: undo.losses,
    error: fromJsonText(undo.error) as SerialisedError | undefined,
    startedAt: instant(undo.startedAt),
    finishedAt: instant(undo.finishedAt),
    skipped: undo.skipped,
    dueAt: waits ? instant(availableAt) : undefined,
  }
}

function instant(epochMs: number | null): Date | undefined {
  return epochMs === null ? undefined : new Date(epochMs)
}

/** Tells whether result() resolves or rejects: the run has a terminal status, or its undo is parked and cannot continue without an operator. */
export function isOver(run: RunRecord, steps: readonly StepRecord[]): boolean {
  if (run.status !== 'compensation_failed') return run.finishedAt !== null
  return !steps.some((step) => step.status === 'compensating' && step.openDependencies === 0)
}
