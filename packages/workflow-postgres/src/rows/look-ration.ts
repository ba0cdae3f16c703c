// What looks read is counted in blocks, about. An entry of the queue's index costs one, because its row is looked up. A look costs 40 besides, and 10
// for each step that it claims.
const EARNED_PER_LOOK = 2
const EARNED_PER_STEP = 0.5
/** What is not worth counting. */
const FREE = 16
/**
 * However few steps are claimed: the next such look follows after this time for each entry that the last one scanned in vain. It is short at first,
 * because without a snapshot the server forgets dead entries once they were scanned, and triples while they are still there.
 */
const REST_MS_MIN = 0.02
const REST_MS_MAX = 2
const REST_GROWTH = 3
/** No such look waits for longer than this. */
const REST_MAX = 120_000

/**
 * How often looks of a kind are made that scan dead entries: whenever other looks have cost 25 times as much since, or after a rest. So they take four
 * hundredths of what looks cost, and those that scan nothing in vain are always made.
 */
export class LookRation {
  #debt = 0
  #vain = 0
  #restMs = REST_MS_MIN
  #restsUntil = Number.NEGATIVE_INFINITY

  /** `now` in milliseconds. */
  isDue(now: number): boolean {
    return this.#debt <= 0 || now >= this.#restsUntil
  }

  /** Another look was made. */
  earn(dequeued: number): void {
    this.#debt -= EARNED_PER_LOOK + EARNED_PER_STEP * dequeued
  }

  /** A look of this kind was made, and has scanned so many entries in vain. */
  spend(entries: number, now: number): void {
    const vain = Math.max(0, entries - FREE)
    const stays = vain > 0 && vain * 2 > this.#vain && this.#vain > 0
    this.#restMs = stays ? Math.min(REST_MS_MAX, this.#restMs * REST_GROWTH) : REST_MS_MIN
    this.#vain = vain
    this.#debt = vain
    this.#restsUntil = now + Math.min(REST_MAX, vain * this.#restMs)
  }
}
