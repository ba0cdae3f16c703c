import type { StepEvent, WorkflowDefinition } from '@belay/workflow'
import type { Dump, RunDump } from '../invariants/index.ts'
import { checkRuns } from './check-branch.ts'
import { descendants } from './descendants.ts'

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
  const { event, found, definition } = call
  const number = definition.graph.numberOf(event.step)
  const row = number === undefined ? undefined : found.steps[number]
  if (row === undefined) return
  // If somebody has just taken the step from its worker, the worker may not know yet.
  const { attempts, startedAt } = event.direction === 'undo' ? (row.undo ?? row) : row
  if (row.workerId !== event.workerId || attempts !== event.attempt) return
  const direction = row.status === 'running' ? 'forward' : row.status === 'compensating' ? 'undo' : null
  if (event.direction !== direction) return
  checkPause(call, startedAt, broken)
  if (direction === 'forward') checkForwardCall(call, number!, broken)
  else checkUndoCall(call, number!, broken)
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

function checkForwardCall({ found, definition }: Call, number: number, broken: Report): void {
  const { run, steps, stored } = found
  const { names, dependencies } = definition.graph
  const call = `${run.runId}/${names[number]} forward`
  for (const dependency of dependencies[number]!) {
    const { status } = steps[dependency]!
    if (status !== 'completed' && status !== 'skipped')
      broken(`${call} was called while its dependency ${dependency} is ${status}`)
  }
  checkRuns({ definition, steps, number }, (violation) => broken(`${call} ${violation}`))
  if (stored?.endsAs !== null) broken(`${call} was called after the undo of its run had begun`)
}

function checkUndoCall({ found, definition }: Call, number: number, broken: Report): void {
  const { run, steps, stored } = found
  const call = `${run.runId}/${definition.graph.names[number]} undo`
  if (stored?.endsAs === null) broken(`${call} was called before the run was drained`)
  for (const row of steps) {
    if (['running', 'ready', 'pending', 'waiting'].includes(row.status)) {
      broken(`${call} was called while step ${row.step} is ${row.status}`)
    }
  }
  for (const later of descendants(definition, number)) {
    const { status } = steps[later]!
    const { compensate } = definition.record.shape.steps[later]!
    const open = status === 'compensating' || status === 'compensation_failed'
    if (open || (status === 'completed' && compensate !== 'never')) {
      broken(`${call} was called while step ${later}, which came after it, is ${status}`)
    }
  }
}
