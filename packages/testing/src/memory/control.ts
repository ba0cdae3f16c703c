import type {
  HistoryRecord,
  KeepsAttempts,
  RunChange,
  RunToChange,
  StepChange,
  StoredRun,
  StoredStep,
  Turns,
} from '@belay/workflow/adapter'
import { isItem, isTerminal } from '@belay/workflow/adapter'
import { assertInvariant, assertRow, changeStep, moveRun } from './change.ts'
import { definitionOf } from './definitions.ts'
import { queueItems } from './items.ts'
import { enqueueAt } from './lease.ts'
import { runRecord, stepRecords } from './read.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { rowOf } from './run-rows.ts'
import { moveSignals, signalsOf, supersedeSignals } from './signals.ts'
import { isGivenUp, keepAttempt, moveAttempts } from './trail.ts'
import { moveValues } from './value-rows.ts'

export function changeRun<Answer extends object>(
  rows: Rows,
  request: KeepsAttempts & {
    readonly runId: string
    readonly decide: (found: RunToChange) => { readonly change: RunChange | null; readonly answer: Answer }
    readonly leavesItems?: boolean | undefined
  },
): Answer | null {
  const run = rows.runs.get(request.runId)
  if (run === undefined) return null
  const found = toChange(rows, run)
  const isLeft = request.leavesItems === true && run.endsAs === null
  const { change, answer } = request.decide(isLeft ? withoutItems(found) : found)
  if (change !== null && request.keepAttempts) keepGivenUp(rows, run, change)
  if (change !== null) apply(rows, run, change)
  return answer
}

function withoutItems(found: RunToChange): RunToChange {
  return { ...found, steps: found.steps.filter(({ step }) => !isItem(step)) }
}

function keepGivenUp(rows: Rows, run: RunRow, { steps }: RunChange): void {
  for (const change of steps) {
    const step = rowOf(run, change.step)
    if (step === undefined || !isGivenUp(step, change)) continue
    const error = change.undoError ?? change.error ?? null
    keepAttempt(rows, { run, step }, { ended: 'given_up', error })
  }
}

function toChange(rows: Rows, run: RunRow): RunToChange {
  const { input: _, ...record } = runRecord(rows, run)
  const { openSteps, stop, endsAs, definition } = run
  const stored: StoredRun = { ...record, openSteps, stop, endsAs, status: run.status }
  const steps = stepRecords(run).map(({ output: _, error: __, undo, ...step }): StoredStep => {
    if (undo === null) return { ...step, undo }
    const { error: ___, ...rest } = undo
    return { ...step, undo: rest }
  })
  return { run: stored, steps, shape: structuredClone(definition.saved.shape), now: rows.now }
}

function apply(rows: Rows, run: RunRow, change: RunChange): void {
  const { openSteps, stop, endsAs, cause, deadlineAt, status } = change.run
  // The change replaces the earlier queue entries of its steps.
  for (const { step } of change.steps) rows.queue.remove({ runId: run.runId, step })
  supersedeSignals(rows, run.runId, stepsThatAskAnew(run, change))
  if (change.migration !== undefined) migrate(rows, run, change)
  else
    for (const step of change.steps)
      changeStep(run, rowOf(run, step.step)!, changedRow(step, rowOf(run, step.step)!))
  Object.assign(run, { openSteps, stop, endsAs, cause, deadlineAt, finishedAt: null })
  run.priority = change.run.priority ?? 0
  if (status !== run.status) moveRun(rows, run, status)
  run.finishedAt = change.run.finishedAt
  if (!isTerminal(status)) rows.liveRuns.add(run)
  assertStopped(run)
  for (const { step, availableAt, waits } of change.queue) {
    const readyAt = availableAt ?? rows.now
    enqueueAt(rows, { run, step: rowOf(run, step)! }, waits === true ? readyAt : Math.max(readyAt, rows.now))
  }
  if (change.queuesItems === true) queueItems(rows, run)
  const past = rows.history.get(run.runId) ?? []
  const entries = change.history.map(
    (entry): HistoryRecord => ({ ...entry, at: rows.now, name: null, key: null }),
  )
  rows.history.set(run.runId, [...past, ...entries])
}

/** The steps whose signal this change removes, by their numbers before the change. */
function stepsThatAskAnew(run: RunRow, { steps, migration }: RunChange): readonly number[] {
  return steps.flatMap(({ step, signalledAt }) => {
    const old = migration === undefined ? step : migration.oldNumbers[step]
    const hadSignal = old != null && rowOf(run, old)!.signalledAt !== null
    return hadSignal && signalledAt === null ? [old] : []
  })
}

/** If the change clears `startedAt`, the step has not begun. If the change gives up a running handler, the step has. */
function changedRow(
  { name: _, itemKey: __, turns, undoError, priority = 0, ...own }: StepChange,
  old: Pick<StepRow, 'begun' | 'undo'>,
) {
  const rest = { ...own, priority }
  const change = turns === undefined ? rest : { ...rest, ...turnsOf(turns) }
  const undo = change.undo && { ...change.undo, error: undoError ?? old.undo?.error ?? null }
  if (change.startedAt === null) return { ...change, undo, begun: false }
  return { ...change, undo, begun: change.error === undefined ? old.begun : true }
}

function turnsOf({ atOnce, nextItem, order }: Turns): Pick<StepRow, 'atOnce' | 'nextItem' | 'itemOrder'> {
  return { atOnce, nextItem, itemOrder: order }
}

/** Replaces the run's rows by those of another definition. A step keeps its payloads under its new number. */
function migrate(rows: Rows, run: RunRow, { steps, migration }: RunChange): void {
  const old = run.steps
  for (const { step } of old) rows.queue.remove({ runId: run.runId, step })
  run.definition = definitionOf(rows, migration!.definitionId)
  run.reportsEnd = migration!.reportsEnd
  run.steps = steps.map((step, number): StepRow => {
    const from = migration!.oldNumbers[number]
    const { output, error, ...row } = from === null || from === undefined ? NOTHING : old[from]!
    return { output, error, ...NO_ITEM, ...changedRow(step, row) }
  })
  for (const step of run.steps) assertRow(run, step)
  moveSignals(rows, run.runId, migration!.oldNumbers)
  moveAttempts(rows, run, migration!.oldNumbers)
  moveValues(rows, run, migration!.oldNumbers)
  moveChildren(rows, run, migration!.oldNumbers)
  rows.limits.removeSteps(run.runId)
  assertInvariant(
    run.steps.length === run.definition.saved.shape.steps.length,
    'migrated_run_has_all_steps',
    () => `run ${run.runId} has ${run.steps.length} steps.`,
  )
}

/** The steps that started a run's children have other numbers now. */
function moveChildren(rows: Rows, { runId }: RunRow, oldNumbers: readonly (number | null)[]): void {
  for (const child of rows.runs.values()) {
    if (child.parent === null || child.parent.runId !== runId || child.parent.step === null) continue
    const step = oldNumbers.indexOf(child.parent.step)
    if (step >= 0) child.parent = { runId, step }
  }
}

const NO_ITEM = { item: null, atOnce: null, nextItem: null, itemOrder: null }

const NOTHING = { output: null, error: null, begun: null, undo: null }

// This overlaps with the CHECK constraints of the database. Each has checks that the other cannot have.
function assertStopped(run: RunRow): void {
  const stopped =
    run.status === 'paused' ? run.stop !== null : run.status !== 'running' && run.status !== 'completed'
  assertInvariant(
    stopped === (run.stop !== null) && stopped === (run.cause !== null) && (run.endsAs === null || stopped),
    'stopped_run_says_why',
    () => `run ${run.runId} is ${run.status}, stopped by ${run.stop}, ends as ${run.endsAs}.`,
  )
}

export function readHistory(
  rows: Rows,
  { runId, limit }: { readonly runId: string; readonly limit: number },
): readonly HistoryRecord[] {
  const signals = signalsOf(rows, runId).map(
    ({ receivedAt: at, step, key, actor, payload }): HistoryRecord => {
      const name = rows.runs.get(runId)?.definition.saved.shape.steps[step]?.name ?? null
      return { at, action: 'signal', step, name, actor, reason: null, change: payload, key }
    },
  )
  // The sort is stable: at the same instant, signals come before operators' actions, by step and key, as in the database.
  signals.sort((one, other) => one.step! - other.step! || (one.key! < other.key! ? -1 : 1))
  const told = [...signals, ...(rows.history.get(runId) ?? [])].sort((one, other) => one.at - other.at)
  return told.slice(-limit).map((entry) => ({ ...entry }))
}
