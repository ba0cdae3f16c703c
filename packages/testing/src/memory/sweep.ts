import type { KeepsAttempts, RecoveredStep } from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { claimOf, enqueue, leasedSteps, placeLateSteps, type StepOfRun } from './lease.ts'
import type { Rows, WorkerRow } from './rows.ts'
import { keepAttempt } from './trail.ts'
import { removeWorker } from './workers.ts'

export interface Sweep {
  readonly lostWorkers: readonly string[]
  readonly recovered: readonly RecoveredStep[]
  readonly more: boolean
}

export function sweep(rows: Rows, { limit, keepAttempts = false }: KeepsAttempts & { limit: number }): Sweep {
  placeLateSteps(rows)
  const lostWorkers = declareDead(rows)
  if (deadWorkers(rows).length > 0) rows.changes += 1
  const recovered: RecoveredStep[] = []
  for (const worker of deadWorkers(rows)) {
    const held = leasedSteps(rows, worker.workerId)
    const batch = held.slice(0, limit - recovered.length)
    recovered.push(...batch.map((step) => giveBack(rows, step, keepAttempts)))
    if (batch.length < held.length) return { lostWorkers, recovered, more: true }
    // A dead worker is removed only once it holds nothing: while its row exists, nobody can register under its id.
    removeWorker(rows, worker.workerId)
  }
  return { lostWorkers, recovered, more: false }
}

function declareDead(rows: Rows): readonly string[] {
  const expired = [...rows.workers.values()].filter(
    ({ status, leaseExpiresAt }) => status === 'live' && leaseExpiresAt <= rows.now,
  )
  for (const worker of expired) worker.status = 'dead'
  return expired.map(({ workerId }) => workerId)
}

function deadWorkers(rows: Rows): readonly WorkerRow[] {
  return [...rows.workers.values()].filter(({ status }) => status === 'dead')
}

/** Makes a dead worker's step claimable again. Counts a loss, not a failure. */
function giveBack(rows: Rows, { run, step }: StepOfRun, keepAttempts: boolean): RecoveredStep {
  if (keepAttempts) keepAttempt(rows, { run, step }, { ended: 'lost', error: null })
  const { startedAt } = step.undo ?? step
  const lost = { losses: (step.undo ?? step).losses + 1, finishedAt: rows.now }
  changeStep(run, step, {
    workerId: null,
    ...(step.undo === null
      ? // It is not known whether a lost attempt's handler had begun. It may have.
        { status: 'ready', begun: true, ...lost }
      : { undo: { ...step.undo, ...lost } }),
  })
  enqueue(rows, { run, step })
  const { failures: _failures, undoOf: _undoOf, ...recovered } = claimOf({ run, step })
  return { ...recovered, itemKey: step.item?.key ?? null, startedAt }
}
