import { skipOf } from '../../adapter/branch.ts'
import {
  continuesPast,
  type DefinitionShape,
  type RunToChange,
  type SavedDefinition,
  type StepChange,
  type StepShape,
  type StoredStep,
} from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { skippableSteps } from '../../graph/skippable.ts'
import { hasChildren } from '../base/child-steps.ts'
import { isContinued, isSatisfied, isSettled, type Plan } from './plan.ts'
import { isForward, remedyOfUndo, runRefusal } from './refusal.ts'
import { retriedRow } from './reopen.ts'

const PROBLEMS_SHOWN_MAX = 10

/**
 * Moves a run to another version of its workflow. Allowed while no step is running, if every step that has begun has the same name in the new
 * version, and no ended step depends there on a step that has not ended. Null if the run already has that version.
 *
 * @throws BelayError `action_refused` that lists every obstacle.
 */
export function planMigration(found: RunToChange, definition: SavedDefinition): Plan | null {
  const { run, steps } = found
  if (definition.name !== run.workflow) {
    throw refusal(found, definition, [`it is a run of "${run.workflow}"`])
  }
  if (definition.id === run.definitionId) return null
  if (run.status === 'completed') throw runRefusal(run, 'moved to another version')
  const remedy = remedyOfUndo(run)
  if (remedy !== '') throw runRefusal(run, 'moved to another version', remedy)
  const moves = movesTo(steps, definition.shape)
  const problems = [
    ...problemsOfInput(found, definition),
    ...problemsOfOld(found, definition),
    ...problemsOfNew(found, definition, moves),
  ]
  if (problems.length > 0) throw refusal(found, definition, problems)
  return isForward(run) ? planForward(found, definition, moves) : planEnded(found, definition, moves)
}

/** A step of the new version, with the run's row of the same name. */
interface Move {
  readonly shape: StepShape
  readonly number: number
  readonly old: StoredStep | undefined
}

function movesTo(steps: readonly StoredStep[], { steps: shapes }: DefinitionShape): readonly Move[] {
  const byName = new Map(steps.map((step) => [step.name, step]))
  return shapes.map((shape, number) => ({ shape, number, old: byName.get(shape.name) }))
}

function problemsOfOld({ steps }: RunToChange, { version, shape }: SavedDefinition): string[] {
  if (steps.some(({ itemKey }) => itemKey !== undefined)) return ['a map or loop of it has its items already']
  const names = new Set(shape.steps.map(({ name }) => name))
  return steps.flatMap((step) => {
    if (step.status === 'running') return [`step "${step.name}" is running`]
    if (names.has(step.name) || hasNotBegun(step)) return []
    return [`step "${step.name}" is ${step.status}, and version ${version} has no such step`]
  })
}

function hasNotBegun({ status, startedAt, signalledAt }: StoredStep): boolean {
  if (signalledAt !== null) return false
  return status === 'pending' || (status === 'cancelled' && startedAt === null)
}

/** The input of a batch is an array of inputs. */
function problemsOfInput({ shape }: RunToChange, { version, shape: newShape }: SavedDefinition): string[] {
  const [isBatch, takesBatch] = [shape.collects === 'batch', newShape.collects === 'batch']
  if (isBatch === takesBatch) return []
  const [given, taken] = isBatch ? ['a batch', 'a single input'] : ['a single input', 'a batch']
  return [`the run has ${given}, and version ${version} takes ${taken}`]
}

function problemsOfNew(
  found: RunToChange,
  { version, shape: newShape }: SavedDefinition,
  moves: readonly Move[],
): string[] {
  const { run, shape } = found
  const skippable = skippableSteps(newShape)
  return moves.flatMap((move) => {
    const { old } = move
    const isKept = old !== undefined && isForward(run) && isContinued(found, old)
    if (isKept && !continuesPast(move.shape)) {
      return [`the run continued past the failure of step "${old.name}", and version ${version} would stop`]
    }
    if (old === undefined || !(isSettled(found, old) || old.status === 'waiting')) return []
    const problems: string[] = []
    const standing = old.status === 'waiting' ? 'is waiting' : 'has ended'
    for (const dependency of move.shape.dependsOn.map((number) => moves[number]!)) {
      if (hasEnded(dependency)) continue
      const name = dependency.shape.name
      problems.push(
        `step "${old.name}" ${standing}, but depends in version ${version} on "${name}", which has not`,
      )
    }
    if (old.status === 'skipped' && skipOf(old.branch) !== undefined && !skippable[move.number]) {
      problems.push(`step "${old.name}" was skipped by its condition, and version ${version} always runs it`)
    }
    if (old.status === 'waiting' && !isSameKind(shape.steps[old.step]!, move.shape)) {
      problems.push(`step "${old.name}" is waiting, and is of another kind in version ${version}`)
    }
    return problems
  })
}

/** Has an output, or had one before it was undone, or failed and the new version continues past that. */
function hasEnded({ old, shape }: Move): boolean {
  if (old === undefined) return false
  if (old.status === 'failed') return continuesPast(shape)
  return isSatisfied(old) || old.status === 'compensated'
}

/** Compares what a waiting step waits for. Whether it runs was decided before it began to wait. */
function isSameKind(one: StepShape, other: StepShape): boolean {
  return one.kind === other.kind
}

function planForward(found: RunToChange, definition: SavedDefinition, moves: readonly Move[]): Plan {
  const { run, now } = found
  const paused = run.status === 'paused'
  const moved = anyMoved(moves)
  const satisfied = moves.map(({ old }) => old !== undefined && isSettled(found, old))
  const steps = moves.map((move): StepChange => {
    const row = rowOf(found, move, moved)
    if (satisfied[move.number] || row.status === 'waiting') return row
    const open = move.shape.dependsOn.filter((number) => !satisfied[number]).length
    // In a paused run each step has one more open dependency: the resumption.
    const openDependencies = open + (paused ? 1 : 0)
    const status = open === 0 ? 'ready' : 'pending'
    // A step that failed after a pivot is tried again with the new version.
    const again = row.status === 'failed' ? retriedRow(row) : row
    return { ...again, status, openDependencies }
  })
  const dependedOn = new Set(moves.flatMap(({ shape }) => shape.dependsOn))
  const openSteps = moves.filter(({ number }) => !dependedOn.has(number) && !satisfied[number]).length
  const end = openSteps === 0 ? ({ status: 'completed', finishedAt: now } as const) : {}
  return {
    ...migrationOf(found, definition, moves),
    run: { ...run, definitionId: definition.id, version: definition.version, openSteps, ...end },
    steps,
    queue: steps.filter(({ status }) => status === 'ready' || status === 'waiting'),
  }
}

/** For an ended run only the shape changes. A retry then goes forward with the new version. */
function planEnded(found: RunToChange, definition: SavedDefinition, moves: readonly Move[]): Plan {
  const { run } = found
  const moved = anyMoved(moves)
  return {
    ...migrationOf(found, definition, moves),
    run: { ...run, definitionId: definition.id, version: definition.version },
    steps: moves.map((move) => {
      const row = rowOf(found, move, moved)
      return move.old === undefined ? { ...row, status: 'cancelled' } : row
    }),
    queue: [],
  }
}

function migrationOf(
  { run, steps }: RunToChange,
  { id, version, shape }: SavedDefinition,
  moves: readonly Move[],
): Pick<Plan, 'migration' | 'note'> {
  const names = new Set(shape.steps.map(({ name }) => name))
  const added = moves.filter(({ old }) => old === undefined).map((move) => move.shape.name)
  const removed = steps.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  return {
    migration: {
      definitionId: id,
      // A child also reports to its parent, and a parent's children end with it.
      reportsEnd:
        shape.endSteps === true || hasChildren(shape) || (run.parent !== null && run.parent.step !== null),
      oldNumbers: moves.map(({ old }) => old?.step ?? null),
    },
    note: { version: { from: run.version, to: version }, added, removed },
  }
}

/**
 * The row under its new number. Its fence exceeds that of the step that had the number before, so that a late result or a queue row of that step
 * cannot match. If any step moved, the fences of ended steps grow too, so that processes that cache outputs by number read them again. All other
 * columns stay with the step.
 */
function rowOf({ run, steps }: RunToChange, { shape, number, old }: Move, moved: boolean): StepChange {
  const fence = steps[number]?.fence ?? 0
  if (old === undefined) {
    const priority = (run.priority ?? 0) + (shape.priority ?? 0) || undefined
    return { ...NEW_STEP, priority, step: number, name: shape.name, fence: fence + 1 }
  }
  if (!moved && isSatisfied(old)) return old
  return { ...old, step: number, fence: Math.max(old.fence, fence) + 1 }
}

function anyMoved(moves: readonly Move[]): boolean {
  return moves.some(({ old, number }) => old !== undefined && old.step !== number)
}

const NEW_STEP: Omit<StoredStep, 'step' | 'name' | 'fence'> = {
  status: 'pending',
  openDependencies: 0,
  round: 1,
  attempts: 0,
  failures: 0,
  losses: 0,
  workerId: null,
  undoOf: null,
  undo: null,
  startedAt: null,
  finishedAt: null,
  availableAt: null,
  waitingSince: null,
  signalledAt: null,
  failingSince: null,
  succeeded: false,
  branch: null,
}

function refusal(
  { run }: RunToChange,
  { name, version }: SavedDefinition,
  problems: readonly string[],
): BelayError {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX)
  if (shown.length < problems.length) shown.push(`and ${problems.length - shown.length} more`)
  const refusal = `cannot be moved to "${name}" version ${version}: ${shown.join('; ')}.`
  return new BelayError('action_refused', `Run ${run.runId} ${refusal}`, { runId: run.runId, refusal })
}
