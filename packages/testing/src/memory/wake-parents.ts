import type { WokenParent } from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { nameOfRun } from './change-within.ts'
import { enqueue, isLeased } from './lease.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'
import { nameOfStep } from './signals.ts'

const OVER: WokenParent = { result: 'over' }

export function wakeParents(rows: Rows, childIds: readonly string[]): readonly WokenParent[] {
  return childIds.map((childId) => wakeParent(rows, childId))
}

function wakeParent(rows: Rows, childId: string): WokenParent {
  const { runId, step: number } = rows.runs.get(childId)?.parent ?? { runId: '', step: null }
  const run = rows.runs.get(runId)
  const step = run === undefined || number === null ? undefined : rowOf(run, number)
  if (run === undefined || step === undefined) return OVER
  const held = rows.holderOf([nameOfRun(runId), nameOfStep({ runId, step: step.step })], undefined)
  if (held !== undefined || isLeased(step)) return { result: 'busy' }
  if (step.status !== 'waiting' && step.status !== 'compensating') return OVER
  changeStep(run, step, { availableAt: step.status === 'waiting' ? rows.now : null })
  // A resumption queues what a paused run held back.
  if (run.status !== 'paused' && step.openDependencies === 0) enqueue(rows, { run, step })
  return { result: 'woken', definitionId: run.definition.saved.id }
}
