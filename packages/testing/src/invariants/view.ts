import type { RunRecord, SavedDefinition, StepRecord, StepStatus } from '@belay/workflow/adapter'
import type { RunDump } from './dump.ts'

/** One run, as the invariants see it. */
export interface RunView {
  readonly run: RunRecord
  readonly stored: RunDump['stored']
  readonly steps: readonly StepView[]
  /** It failed or was cancelled. It does not go forward any more. */
  readonly stopped: boolean
  /** Its undo was planned. Nothing in it goes forward any more, not even steps that were in flight. */
  readonly undoBegun: boolean
}

export interface StepView extends StepRecord {
  readonly dependencies: readonly StepRecord[]
  readonly dependents: readonly StepRecord[]
}

export type Reporter = (invariant: string, message: string, step?: number) => void

/** Undefined if the run's rows don't match its definition. */
export function viewOf(definition: SavedDefinition, { run, steps, stored }: RunDump): RunView | undefined {
  const shapes = definition.shape.steps
  const complete =
    steps.length === shapes.length &&
    steps.every(({ step, name }, position) => step === position && name === shapes[position]!.name)
  if (!complete) return undefined
  const dependents: StepRecord[][] = shapes.map(() => [])
  shapes.forEach(({ dependsOn }, number) => {
    for (const dependency of dependsOn) dependents[dependency]!.push(steps[number]!)
  })
  return {
    run,
    stored,
    steps: steps.map((step, number) => ({
      ...step,
      dependencies: shapes[number]!.dependsOn.map((dependency) => steps[dependency]!),
      dependents: dependents[number]!,
    })),
    // A paused run that was stopped is undone once it is resumed.
    stopped: STOPPED.has(run.status) || (run.status === 'paused' && run.cause !== null),
    undoBegun: steps.some(({ undoOf }) => undoOf !== null) || (stored?.endsAs ?? null) !== null,
  }
}

const STOPPED: ReadonlySet<string> = new Set([
  'compensating',
  'failed',
  'compensated',
  'compensation_failed',
  'cancelled',
])

/** Not begun, or in flight. */
export function isOpen(status: StepStatus): boolean {
  return status === 'pending' || status === 'ready' || status === 'running' || status === 'waiting'
}

/** Its dependents may start. */
export function isSatisfied(status: StepStatus): boolean {
  return status === 'completed' || status === 'skipped'
}

/** Its undo has not ended. */
export function isUndoOpen(status: StepStatus): boolean {
  return status === 'compensating' || status === 'compensation_failed'
}
