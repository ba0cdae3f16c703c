import type { Claim } from '../../adapter/index.ts'
import type { Attempt } from '../attempt/attempt.ts'

const NONE: readonly Attempt[] = []

/**
 * Of the undos among these claims, the forward attempts of their steps that have no outcome yet. The step was taken from them, by an operator who
 * gave it up or because a lease was lost. The undo overtakes what waits for a slot, so one that waits must never begin its handler.
 */
export function overtakenBy(claims: readonly Claim[], attempts: Iterable<Attempt>): readonly Attempt[] {
  if (!claims.some(({ direction }) => direction === 'undo')) return NONE
  // One walk for all claims of an answer: a worker has thousands of attempts, and a saga as many undos.
  const undone = new Set<string>()
  for (const { direction, runId, step } of claims) if (direction === 'undo') undone.add(stepKey(runId, step))
  const overtaken: Attempt[] = []
  for (const attempt of attempts) {
    const { runId, step, direction } = attempt.claim
    if (direction !== 'forward' || attempt.phase === 'settling') continue
    if (undone.has(stepKey(runId, step))) overtaken.push(attempt)
  }
  return overtaken
}

function stepKey(runId: string, step: number): string {
  return `${runId}:${step}`
}
