/**
 * A step whose effect was undone and which an operator then sends on its way again begins a new round: what it does is another effect, so
 * other systems must be given another idempotency key. The round is told from the attempt's number, which jumps to the next multiple of
 * this: it never repeats as it is, and every claim carries it. More attempts than one step makes in a year at one a second.
 */
const ATTEMPTS_PER_ROUND = 40_000_000

/** The highest round whose attempts fit the store's numbers. */
export const ROUND_MAX = 50

/** 0 until the step's effect was undone and it was sent on its way again. */
export function roundOf(fence: number): number {
  return Math.floor(fence / ATTEMPTS_PER_ROUND)
}

/** The number from which the attempts of the next round count. */
export function nextRound(fence: number): number {
  return (roundOf(fence) + 1) * ATTEMPTS_PER_ROUND
}
