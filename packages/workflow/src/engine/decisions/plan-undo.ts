import {
  type DefinitionShape,
  type DrainedRun,
  edgesOf,
  isItem,
  placeRows,
  type StepShape,
  type StoredStep,
  type UndoPlan,
} from '../../adapter/index.ts'
import type { StepGraph } from '../../graph/graph.ts'

/**
 * Plans what to undo in a drained run, and in which order: a pure function of the graph and the steps' statuses.
 *
 * A step's undo waits for the undos of its dependents. A step with nothing to undo, between two that have something to undo, becomes a relay: so
 * the plan needs no other edges than the definition's. (Otherwise two layers of 10,000 steps, joined by one step, would need 10^8 edges.)
 */
export function planUndo(graph: StepGraph, shape: DefinitionShape, run: DrainedRun): UndoPlan {
  assertWhole(shape, run)
  const placed = placeRows(shape, run.steps)
  if (placed === null) return planInOrder(graph, shape, run)
  const { numbers } = placed
  const rows = new Map(run.steps.map((row) => [row.step, row]))
  const steps = numbers.map((number) => rows.get(number)!)
  // Without a compensation, items are no relays: their join depends on their opener too. A loop may have thousands of rounds, one after the other.
  const relays = ({ compensate }: StepShape, place: number) =>
    !isItem(numbers[place]!) || compensate !== 'never'
  const plan = planInOrder(edgesOf(placed.shape), placed.shape, { ...run, steps }, relays)
  return { ...plan, undos: plan.undos.map((undo) => ({ ...undo, step: numbers[undo.step]! })) }
}

/** A plan for rows that are not the steps' would undo the wrong ones. */
function assertWhole({ steps }: DefinitionShape, run: DrainedRun): void {
  const fits = ({ step }: DrainedRun['steps'][number], index: number) =>
    index < steps.length ? step === index : isItem(step)
  if (run.steps.length >= steps.length && run.steps.every(fits)) return
  const own = run.steps.filter(({ step }) => !isItem(step))
  throw new Error(
    `Run ${run.runId} has rows of the steps ${own.map(({ step }) => step).join(', ')}, but its workflow has the steps 0 to ${steps.length - 1}. Restore the rows of the run.`,
  )
}

/** Plans in terms of places: `run.steps[n]` is the row of `shape.steps[n]`. */
function planInOrder(
  graph: Pick<StepGraph, 'dependencies' | 'dependents'>,
  shape: DefinitionShape,
  run: DrainedRun,
  relays: (step: StepShape, number: number) => boolean = () => true,
): UndoPlan {
  const size = shape.steps.length
  // It may have completed although its run was being stopped: then nothing is undone, and an operator may let the run go on.
  const isPastPivot = shape.steps.some(
    ({ pivot }, number) => pivot === true && run.steps[number]!.status === 'completed',
  )
  const keepsAll = run.stop === 'abandonment' || isPastPivot
  const owed = shape.steps.map(
    (step, number) =>
      !keepsAll &&
      (owesUndo(begunOnly(run.steps[number]!, step), compensateOf(step)) ||
        owesForItems(shape, number, run.steps)),
  )
  // As in a run that failed at its first step.
  if (!owed.includes(true)) return { runId: run.runId, fences: run.fences, endsAs: endOf(run, 0), undos: [] }
  const below = spread(owed, graph.dependencies, ascending(size))
  const above = spread(owed, graph.dependents, ascending(size).reverse())
  const takesPart = owed.map(
    (owes, number) => owes || (below[number]! && above[number]! && relays(shape.steps[number]!, number)),
  )
  const undos = ascending(size)
    .filter((number) => takesPart[number])
    .map((step) => ({ step, openDependents: graph.dependents[step]!.filter((n) => takesPart[n]).length }))
  return { runId: run.runId, fences: run.fences, endsAs: endOf(run, undos.length), undos }
}

/** When the row of a step is undone. Of a map or a loop, the shape's `compensate` is about its items. */
export function compensateOf({ kind, compensate }: StepShape): StepShape['compensate'] {
  return kind === 'map' || kind === 'repeat' ? 'never' : compensate
}

/**
 * Whether the step decides the items of a map that are undone all at once, and one of them owes an undo. `rows[n]` is the row of `shape.steps[n]`, as
 * it was when the run was drained.
 */
function owesForItems(
  { steps }: DefinitionShape,
  opener: number,
  rows: readonly Parameters<typeof owesUndo>[0][],
): boolean {
  const { compensateAll, compensate } = steps[opener]!
  if (compensateAll !== true) return false
  const isItem = ({ kind, dependsOn }: StepShape) => kind !== 'join' && dependsOn[0] === opener
  return rows.some((row, number) => isItem(steps[number]!) && owesUndo(row, compensate))
}

/** Whether a step that takes part in an undo is a relay, which a worker settles without calling a handler. */
export function owesNothing(
  { shape, steps }: { readonly shape: DefinitionShape; readonly steps: readonly UndoneRow[] },
  { step, undoOf, succeeded }: UndoneRow,
): boolean {
  // With 'started', only steps that had begun were planned: no need to check again.
  const undone = { status: undoOf ?? 'completed', started: true, succeeded }
  return (
    !owesUndo(undone, compensateOf(shape.steps[step]!)) && !owesForItems(shape, step, steps.map(asDrained))
  )
}

type UndoneRow = Pick<StoredStep, 'step' | 'status' | 'undoOf' | 'startedAt' | 'succeeded'>

function asDrained({ status, undoOf, startedAt, succeeded }: UndoneRow) {
  return { status: undoOf ?? status, started: startedAt !== null, succeeded }
}

/** Tells whether a step's compensation must be called, given its status when its run was drained. */
export function owesUndo(
  {
    status,
    started,
    succeeded = false,
  }: Pick<DrainedRun['steps'][number], 'status' | 'started' | 'succeeded'>,
  compensate: StepShape['compensate'],
): boolean {
  if (compensate === 'never') return false
  // The step certainly took effect, with or without a stored output.
  if (status === 'completed' || succeeded) return true
  return compensate === 'started' && started && (status === 'failed' || status === 'cancelled')
}

/** A step whose own `when` has not said yes never began, even if an attempt that asked was lost with its worker. */
function begunOnly(
  step: DrainedRun['steps'][number],
  { when }: StepShape,
): Pick<DrainedRun['steps'][number], 'status' | 'started' | 'succeeded'> {
  return when === 'function' && step.decided !== true ? { ...step, started: false } : step
}

function endOf(run: DrainedRun, undos: number): UndoPlan['endsAs'] {
  if (run.stop !== 'failure') return 'cancelled'
  return undos === 0 ? 'failed' : 'compensated'
}

/** For each step: whether a step that owes an undo can be reached from it over `neighbours`. `order` visits neighbours first. */
function spread(
  owed: readonly boolean[],
  neighbours: readonly (readonly number[])[],
  order: readonly number[],
): readonly boolean[] {
  const reached = new Array<boolean>(owed.length).fill(false)
  for (const number of order) {
    reached[number] = neighbours[number]!.some((n) => owed[n] || reached[n])
  }
  return reached
}

function ascending(size: number): number[] {
  return Array.from({ length: size }, (_, number) => number)
}
