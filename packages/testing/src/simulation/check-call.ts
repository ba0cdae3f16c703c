import type { StepEvent, WorkflowDefinition } from '@belay/workflow'
import { isItem, itemIndex, mapOf, type StepRecord } from '@belay/workflow/adapter'
import type { Dump, RunDump } from '../invariants/index.ts'
import { checkRuns } from './check-branch.ts'
import { compensateOf, isRound, keepsChild, rowsAfter, undoneWith } from './descendants.ts'

export interface Call {
  readonly event: StepEvent
  readonly found: RunDump
  /** The version that the run follows. */
  readonly definition: WorkflowDefinition
  readonly workers: Dump['workers']
  /** Since when the run has been paused; undefined if it is not paused. */
  readonly pausedAt: number | undefined
  readonly now: number
}

type Report = (violation: string) => void

/** Checks whether a handler may be called now. */
export function checkCall(call: Call, broken: Report): void {
  checkLease(call, broken)
  const { event, found } = call
  const row = found.steps.find(({ name }) => name === event.step)
  if (row === undefined) return
  // If somebody has just taken the step from its worker, the worker may not know yet.
  const { attempts, startedAt } = event.direction === 'undo' ? (row.undo ?? row) : row
  if (row.workerId !== event.workerId || attempts !== event.attempt) return
  const direction = row.status === 'running' ? 'forward' : row.status === 'compensating' ? 'undo' : null
  if (event.direction !== direction) return
  checkPause(call, startedAt, broken)
  if (direction === 'forward') checkForwardCall(call, row, broken)
  else checkUndoCall(call, row, broken)
}

/** No handler begins once its worker's lease may be over: another worker may have the step, and its run may already be undone. */
function checkLease({ event: { runId, step, workerId }, workers, now }: Call, broken: Report): void {
  const worker = workers?.find((row) => row.workerId === workerId)
  if (worker?.status === 'live' && worker.leaseExpiresAt > now) return
  broken(`${runId}/${step} was called by worker ${workerId}, whose lease had expired`)
}

/** No step of a paused run is claimed. What its workers hold was claimed before the pause. */
function checkPause({ event, pausedAt }: Call, claimedAt: number | null, broken: Report): void {
  if (pausedAt === undefined || claimedAt === null || claimedAt <= pausedAt) return
  broken(
    `${event.runId}/${event.step} ${event.direction} was claimed at ${claimedAt}; its run has been paused since ${pausedAt}`,
  )
}

function checkForwardCall({ found, definition }: Call, row: StepRecord, broken: Report): void {
  const { run, steps, stored } = found
  const call = `${run.runId}/${row.name} forward`
  const dependencies = isItem(row.step) ? [mapOf(row.step)] : definition.graph.dependencies[row.step]!
  for (const dependency of dependencies) {
    const { status } = steps[dependency]!
    if (status === 'failed' && definition.steps[dependency]!.onFailure === 'continue') continue
    if (status !== 'completed' && (status !== 'skipped' || isItem(row.step)))
      broken(`${call} was called while its dependency ${dependency} is ${status}`)
  }
  const before = steps.find(({ step }) => step === row.step - 1)
  if (isRound(definition, row.step) && itemIndex(row.step) > 0 && before?.status !== 'completed')
    broken(`${call} was called while the round before it is ${before?.status}`)
  if (!isItem(row.step)) {
    checkRuns({ definition, steps, number: row.step }, (violation) => broken(`${call} ${violation}`))
  }
  if (stored?.endsAs !== null) broken(`${call} was called after the undo of its run had begun`)
}

function checkUndoCall({ found, definition }: Call, row: StepRecord, broken: Report): void {
  const { run, steps, stored } = found
  const call = `${run.runId}/${row.name} undo`
  if (stored?.endsAs === null) broken(`${call} was called before the run was drained`)
  for (const other of steps) {
    if (['running', 'ready', 'pending', 'waiting'].includes(other.status)) {
      broken(`${call} was called while step ${other.step} is ${other.status}`)
    }
  }
  for (const later of rowsAfter(found, definition, row)) {
    const open = later.status === 'compensating' || later.status === 'compensation_failed'
    // A step whose child keeps its effects stays completed.
    const isKept = keepsChild(definition, later.step)
    const stands = later.status === 'completed' && !isKept && compensateOf(definition, later) !== 'never'
    const hasEffect = undoneWith(definition, found, later).some(({ status }) => status === 'completed')
    if (open || (stands && hasEffect)) {
      broken(`${call} was called while step ${later.step}, which came after it, is ${later.status}`)
    }
  }
}
