import type { Claim } from '../../adapter/index.ts'

/** The same for all attempts of one round. It changes after the effect was undone and the step runs again. */
export function idempotencyKey(
  { runId, round, direction }: Pick<Claim, 'runId' | 'round' | 'direction'>,
  step: string,
): string {
  const effect = round === 1 ? `${runId}:${step}` : `${runId}:${step}:${round}`
  return direction === 'undo' ? `${effect}:undo` : effect
}
