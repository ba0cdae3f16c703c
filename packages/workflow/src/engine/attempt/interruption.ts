import { BelayError } from '../../errors.ts'
import type { Attempt } from './attempt.ts'

// The reasons why a handler's signal fires before its timeout.

export function leaseLost({ claim, step }: Attempt): BelayError {
  return new BelayError(
    'lease_lost',
    `Step "${step.name}" of run ${claim.runId} lost its lease: this worker did not renew it in time and was presumed dead. Its result will be discarded, and the step will run again on another worker. If the process was blocked, keep long computations off the event loop; if it was paused, raise \`lease\`.`,
    { runId: claim.runId, step: step.name, attempt: claim.attempt },
  )
}

export function stepTaken({ claim, step }: Attempt): BelayError {
  return new BelayError(
    'lease_lost',
    `Step "${step.name}" of run ${claim.runId} no longer belongs to this worker: another worker took it over, or its row was changed by hand. Its result will be discarded.`,
    { runId: claim.runId, step: step.name, attempt: claim.attempt },
  )
}

export function runStopping(runId: string): BelayError {
  return new BelayError(
    'run_stopping',
    `Run ${runId} is being stopped: it failed elsewhere or was cancelled.`,
    {
      runId,
    },
  )
}

export function workerStopping(): BelayError {
  return new BelayError('worker_stopping', 'The worker is stopping and cannot wait any longer.')
}
