import type { RunRecord, RunStatus, StepRecord, StepStatus, UndoRecord } from '../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import { fromJsonText } from '../base/payload.ts'

/** A run as it stood when it was read. */
export interface RunSummary {
  readonly id: string
  readonly workflow: string
  readonly version: number
  readonly key: string | undefined
  readonly status: RunStatus
  readonly input: unknown
  /** Why the run stopped; undefined while it goes forward and when it completed. A paused run that has one is undone once it is resumed. */
  readonly cause: RunCause | undefined
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
  /** When it may begin, if it was given a start time. */
  readonly startAt: Date | undefined
  /** When it fails unless it has ended by then. */
  readonly deadlineAt: Date | undefined
  /** As they were given when it was started; empty for none. */
  readonly tags: readonly string[]
}

/** A run with its steps, in topological order. */
export interface RunSnapshot extends RunSummary {
  readonly steps: readonly StepSnapshot[]
}

export interface StepSnapshot {
  readonly name: string
  readonly status: StepStatus
  /** Which effect of the step this is, from 1: it grows when the step was undone and is run again, and its idempotency key with it. */
  readonly round: number
  /**
   * Attempts that a worker has begun in this round, the one under way included; 0 before the first. Of a poll those of its newest check. This
   * and all that follows tells of the way forward; `undo` of the way back.
   */
  readonly attempts: number
  /** Of them, since the step was last sent on its way: how many failed, and how many lost their worker. */
  readonly failures: number
  readonly losses: number
  /** Who holds the step or ended its newest attempt, of either direction. */
  readonly workerId: string | undefined
  readonly output: unknown
  /** The newest error, also when a later attempt completed. */
  readonly error: SerialisedError | undefined
  /** Its handler returned what cannot be stored, and `error` says why: its effect is there, although the step did not complete. */
  readonly succeeded: boolean
  /** When the newest attempt began and ended. */
  readonly startedAt: Date | undefined
  readonly finishedAt: Date | undefined
  /** Its undo, once that is planned; undefined of a step that is not undone. */
  readonly undo: StepUndo | undefined
  /** Of a step that is ready or waiting: when it is due, by its timer, its timeout or a retry's delay. Undefined for at once, or for a wait without end. */
  readonly dueAt: Date | undefined
  /** When it began to wait. */
  readonly waitingSince: Date | undefined
  /** When its signal came. */
  readonly signalledAt: Date | undefined
}

/** The undo of a step. */
export interface StepUndo {
  /** Attempts of the compensation that a worker has begun, the one under way included. */
  readonly attempts: number
  readonly failures: number
  readonly losses: number
  /** The newest error of the compensation, also when a later attempt succeeded. */
  readonly error: SerialisedError | undefined
  /** When the newest attempt began and ended. */
  readonly startedAt: Date | undefined
  readonly finishedAt: Date | undefined
  /** It counts as compensated because an operator said so, with `skipCompensation()`. */
  readonly skipped: boolean
}

export function runSummary(run: RunRecord): RunSummary {
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
  }
}

export function runSnapshot(found: { run: RunRecord; steps: readonly StepRecord[] }): RunSnapshot {
  return { ...runSummary(found.run), steps: found.steps.map(stepSnapshot) }
}

function stepSnapshot(step: StepRecord): StepSnapshot {
  return {
    name: step.name,
    status: step.status,
    round: step.round,
    attempts: step.attempts,
    failures: step.failures,
    losses: step.losses,
    workerId: step.workerId ?? undefined,
    output: fromJsonText(step.output),
    error: fromJsonText(step.error) as SerialisedError | undefined,
    succeeded: step.succeeded,
    startedAt: instant(step.startedAt),
    finishedAt: instant(step.finishedAt),
    undo: step.undo === null ? undefined : stepUndo(step.undo),
    dueAt: step.status === 'ready' || step.status === 'waiting' ? instant(step.availableAt) : undefined,
    waitingSince: instant(step.waitingSince),
    signalledAt: instant(step.signalledAt),
  }
}

function stepUndo(undo: UndoRecord): StepUndo {
  return {
    attempts: undo.attempts,
    failures: undo.failures,
    losses: undo.losses,
    error: fromJsonText(undo.error) as SerialisedError | undefined,
    startedAt: instant(undo.startedAt),
    finishedAt: instant(undo.finishedAt),
    skipped: undo.skipped,
  }
}

function instant(epochMs: number | null): Date | undefined {
  return epochMs === null ? undefined : new Date(epochMs)
}

/**
 * Tells whether a run has come to its end for whoever awaits it: a terminal status, or a parked undo in which nothing can move any more
 * without an operator.
 */
export function isOver(run: RunRecord, steps: readonly StepRecord[]): boolean {
  if (run.status !== 'compensation_failed') return run.finishedAt !== null
  return !steps.some((step) => step.status === 'compensating' && step.openDependencies === 0)
}
