import type { Claim } from '../../adapter/index.ts'
import type { Attempt } from '../attempt/attempt.ts'

/**
 * The forward attempts of this undo's step that have no outcome yet. The step was taken from them, by an operator who gave it up or because a lease
 * was lost. The undo overtakes what waits for a slot, so one that waits must never begin its handler.
 */
export function overtakenBy({ runId, step }: Claim, attempts: Iterable<Attempt>): readonly Attempt[] {
  return [...attempts].filter(
    ({ claim, phase }) =>
      claim.runId === runId && claim.step === step && claim.direction === 'forward' && phase !== 'settling',
  )
}
