import type { Migration, RunToChange, StepChange, StoredRun, StoredStep } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../graph/index.ts'
import { listed } from '../../graph/place.ts'
import { shown } from '../../shown.ts'

/** What an action comes to: the run as it is to be, and the rows of its steps that change. */
export interface Plan {
  readonly run: StoredRun
  readonly steps: readonly StepChange[]
  /** Steps that may be claimed again, as they are after the change. */
  readonly queue: readonly StoredStep[]
  readonly migration?: Migration
  /** What the history says of it, beside the statuses that change. */
  readonly note?: Readonly<Record<string, unknown>>
}

/** A step that operators named. Throws `invalid_option` for a name that the run's definition doesn't have. */
export function stepNamed({ run, steps }: RunToChange, name: string): StoredStep {
  if (typeof name !== 'string') {
    const message = `A step of run ${run.runId} must be named by a string; got ${shown(name)}.`
    throw new BelayError('invalid_option', message, { runId: run.runId })
  }
  const found = steps.find((step) => step.name === name)
  if (found !== undefined) return found
  const names = steps.map((step) => step.name)
  throw new BelayError(
    'invalid_option',
    `Run ${run.runId} of "${run.workflow}" (version ${run.version}) has no step ${shown(name)}.${didYouMean(name, names)} Its steps are ${listed(names)}.`,
    { runId: run.runId },
  )
}

/** Waits for others or for its turn, or between two attempts. */
export function hasNotBegun({ status }: StoredStep): boolean {
  return status === 'pending' || status === 'ready' || status === 'waiting'
}

/** Lets dependents start. */
export function isSatisfied({ status }: StoredStep): boolean {
  return status === 'completed' || status === 'skipped'
}

/** For each step the steps that depend on it, ascending. */
export function dependentsIn({ shape }: Pick<RunToChange, 'shape'>): readonly (readonly number[])[] {
  const dependents: number[][] = shape.steps.map(() => [])
  shape.steps.forEach(({ dependsOn }, number) => {
    for (const dependency of dependsOn) dependents[dependency]?.push(number)
  })
  return dependents
}

/** When steps may be claimed: at once (null) or from an instant on. A wait without end is not queued at all. */
export function queueEntries(
  { startAt }: StoredRun,
  steps: readonly StoredStep[],
): { readonly step: number; readonly availableAt: number | null }[] {
  return steps.flatMap(({ step, status, availableAt, signalledAt }) => {
    if (status === 'waiting' && signalledAt !== null) return [{ step, availableAt: null }]
    if (status === 'waiting' && availableAt === null) return []
    if (startAt === null) return [{ step, availableAt }]
    return [{ step, availableAt: Math.max(startAt, availableAt ?? startAt) }]
  })
}
