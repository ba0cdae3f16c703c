import {
  continuesPast,
  edgesOf,
  isItem,
  mapOf,
  placeRows,
  type RunRecord,
  type SavedDefinition,
  type StepRecord,
  type StepStatus,
} from '@belay/workflow/adapter'
import type { RunDump } from './dump.ts'

/** One run, as the invariants see it. */
export interface RunView {
  readonly run: RunRecord
  readonly stored: RunDump['stored']
  readonly steps: readonly StepView[]
  /** It failed or was cancelled. It does not go forward any more. */
  readonly stopped: boolean
  /** One of its pivots has completed, so it goes forward although a step has failed. */
  readonly isPastPivot: boolean
  /** Its undo was planned. Nothing in it goes forward any more, not even steps that were in flight. */
  readonly undoBegun: boolean
}

export interface StepView extends SettlingStep {
  readonly dependencies: readonly SettlingStep[]
  readonly dependents: readonly SettlingStep[]
  /** It is a round of a loop. */
  readonly isRound: boolean
}

interface SettlingStep extends StepRecord {
  /** Its dependents may start: it has completed, was skipped, or failed and the run went on. */
  readonly isSettled: boolean
}

export type Reporter = (invariant: string, message: string, step?: number) => void

/** Undefined if the run's rows don't match its definition. */
export function viewOf(definition: SavedDefinition, { run, steps, stored }: RunDump): RunView | undefined {
  if (!isComplete(definition, steps)) return undefined
  const placed = placeRows(definition.shape, steps)
  const byNumber = new Map(steps.map((step) => [step.step, step]))
  const shape = placed?.shape ?? definition.shape
  const isPastPivot = definition.shape.steps.some(
    ({ pivot }, number) => pivot === true && steps[number]!.status === 'completed',
  )
  const rows = shape.steps.map((step, place): SettlingStep => {
    const row = byNumber.get(placed?.numbers[place] ?? place)!
    const isContinued = row.status === 'failed' && (continuesPast(step) || !isPastPivot)
    return { ...row, isSettled: isSatisfied(row.status) || isContinued }
  })
  const { dependencies, dependents } = edgesOf(shape)
  return {
    run,
    stored,
    steps: rows.map((step, place) => ({
      ...step,
      dependencies: dependencies[place]!.map((dependency) => rows[dependency]!),
      dependents: dependents[place]!.map((dependent) => rows[dependent]!),
      isRound: isItem(step.step) && definition.shape.steps[mapOf(step.step)]?.kind === 'repeat',
    })),
    // A paused run that was stopped is undone once it is resumed.
    stopped: STOPPED.has(run.status) || (run.status === 'paused' && run.cause !== null),
    isPastPivot,
    undoBegun: steps.some(({ undoOf }) => undoOf !== null) || (stored?.endsAs ?? null) !== null,
  }
}

/** Every step of the definition is there, and after them only items of its maps and rounds of its loops. */
function isComplete({ shape }: SavedDefinition, steps: readonly StepRecord[]): boolean {
  return steps.every(({ step, name, itemKey }, position) => {
    if (position < shape.steps.length) return step === position && name === shape.steps[position]!.name
    return isItem(step) && itemKey !== undefined && isOpener(shape.steps[mapOf(step)]?.kind)
  })
}

function isOpener(kind: string | undefined): boolean {
  return kind === 'map' || kind === 'repeat'
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

function isSatisfied(status: StepStatus): boolean {
  return status === 'completed' || status === 'skipped'
}

/** Its undo has not ended. */
export function isUndoOpen(status: StepStatus): boolean {
  return status === 'compensating' || status === 'compensation_failed'
}
