/**
 * - `empty`: a claim found no more steps, and no hint has come since.
 * - `asked`: a claim is under way, so whether steps will remain is unknown.
 * - `likely`: ready steps may wait, so a freed slot claims at once instead of at the next tick.
 */
export type QueueState = 'empty' | 'asked' | 'likely'

export type QueueEvent =
  /** Steps may have become claimable. */
  | 'hint'
  /** A claim was sent. */
  | 'claim'
  /** The claim found no more steps. */
  | 'found none'
  /** The claim left steps in the queue, or failed. */
  | 'left some'

/** What a worker expects of the queue, from the hints it gets and the answers to its claims. */
export function nextQueueState(state: QueueState, event: QueueEvent): QueueState {
  if (event === 'claim') return 'asked'
  // A hint that came during the claim may be about a step that the claim did not see.
  if (event === 'found none') return state === 'asked' ? 'empty' : state
  return 'likely'
}
