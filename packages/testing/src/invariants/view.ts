import type { RunRecord, SavedDefinition, StepRecord, StepStatus } from '@belay/workflow/adapter'
import type { RunDump } from './dump.ts'

/** One run as the facts look at it. */
export interface RunView {
  readonly run: RunRecord
  readonly stored: RunDump['stored']
  readonly steps: readonly StepView[]
  /** It failed or was cancelled, and never goes forward again. */
  readonly stopped: boolean
  /** Its plan was made: nothing of it goes forward any more, not even what was in flight. */
  readonly undoBegun: boolean
}

export interface StepView extends StepRecord {
  readonly dependencies: readonly StepRecord[]
  readonly dependents: readonly StepRecord[]
}

export type Reporter = (invariant: string, message: string, step?: number) => void

/** Undefined when the run's rows are not those of its definition. */
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

/** Not started, or in flight. */
export function isOpen(status: StepStatus): boolean {
  return status === 'pending' || status === 'ready' || status === 'running' || status === 'waiting'
}

/** Lets its dependents start. */
export function isSatisfied(status: StepStatus): boolean {
  return status === 'completed' || status === 'skipped'
}

/** In an undo that has not ended. */
export function isUndoOpen(status: StepStatus): boolean {
  return status === 'compensating' || status === 'compensation_failed'
}
