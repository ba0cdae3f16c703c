import {
  continuesPast,
  type Migration,
  type RunChange,
  type RunToChange,
  type StepChange,
  type StoredRun,
  type StoredStep,
} from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import { unknownStep } from '../runs/unknown-step.ts'

/** The result of a decision: the new state of the run, and the rows of its steps that change. */
export interface Plan {
  readonly run: StoredRun
  readonly steps: readonly StepChange[]
  /** Steps that become claimable, in their new state. */
  readonly queue: readonly (StoredStep & { readonly readySince?: number })[]
  /** The run goes forward again after a pause: its items are queued. See `RunChange`. */
  readonly queuesItems?: true
  readonly migration?: Migration
  /** What the history records in addition to the changed statuses. */
  readonly note?: Readonly<Record<string, unknown>>
}

/** Finds a step by name. Throws `invalid_option` if the run's definition has no such step. */
export function stepNamed({ run, steps }: RunToChange, name: string): StoredStep {
  if (typeof name !== 'string') {
    const message = `A step of run ${run.runId} must be named by a string; got ${shown(name)}.`
    throw new BelayError('invalid_option', message, { runId: run.runId })
  }
  const found = steps.find((step) => step.name === name)
  if (found !== undefined) return found
  throw unknownStep(
    run,
    steps.map((step) => step.name),
    name,
  )
}

/** Waits for its dependencies, for a worker, or between two attempts. */
export function hasNotBegun({ status }: StoredStep): boolean {
  return status === 'pending' || status === 'ready' || status === 'waiting'
}

/** Whether its dependents may start. */
export function isSatisfied({ status }: StoredStep): boolean {
  return status === 'completed' || status === 'skipped'
}

/** Whether the run went on past the failure of this step, or had gone on past it when it stopped. After a pivot, other failures park the run. */
export function isContinued(found: Pick<RunToChange, 'steps' | 'shape'>, step: StoredStep): boolean {
  return step.status === 'failed' && (continuesPast(found.shape.steps[step.step]!) || !isPastPivot(found))
}

/** Whether its dependents may start in a run that goes forward. */
export function isSettled(found: Pick<RunToChange, 'steps' | 'shape'>, step: StoredStep): boolean {
  return isSatisfied(step) || isContinued(found, step)
}

/** Whether a pivot of the run has completed: then it goes forward only. */
export function isPastPivot({ steps, shape }: Pick<RunToChange, 'steps' | 'shape'>): boolean {
  return shape.steps.some(({ pivot }, number) => pivot === true && steps[number]!.status === 'completed')
}

/** For each step, the steps that depend on it, ascending. */
export function dependentsIn({ shape }: Pick<RunToChange, 'shape'>): readonly (readonly number[])[] {
  const dependents: number[][] = shape.steps.map(() => [])
  shape.steps.forEach(({ dependsOn }, number) => {
    for (const dependency of dependsOn) dependents[dependency]?.push(number)
  })
  return dependents
}

/** When steps may be claimed: at once (null) or from an instant on. A wait without a timeout is not queued. */
export function queueEntries({ startAt }: StoredRun, steps: Plan['queue']): RunChange['queue'] {
  return steps.flatMap(({ step, status, availableAt, signalledAt, readySince }) => {
    if (readySince !== undefined) return [{ step, availableAt: readySince, waits: true }]
    if (status === 'waiting' && signalledAt !== null) return [{ step, availableAt: null }]
    if (status === 'waiting' && availableAt === null) return []
    if (startAt === null) return [{ step, availableAt }]
    return [{ step, availableAt: Math.max(startAt, availableAt ?? startAt) }]
  })
}
