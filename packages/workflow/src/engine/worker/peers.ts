import type { Peers, WakeHint } from '../../adapter/index.ts'
import type { Clock, Timer } from '../../clock.ts'

/** How many idle workers a hint makes look at once. */
const LOOK_NOW = 3
/** How many look at once or a moment later, in case the first are gone or busy. */
const LOOK_SOON = 9

/**
 * Idle workers share their polling: each of n peers looks n times less often, so that together they look as often as one alone. The definition with
 * the fewest peers counts: the only worker of a definition does not look less often.
 */
export function shareOf(peers: readonly Peers[]): number {
  return Math.max(1, Math.min(...(peers.length === 0 ? [1] : peers.map(({ count }) => count))))
}

/**
 * Whether a worker that gets a hint should look now, in a moment, or not at all. Each worker decides alone, by its rank among its peers and the
 * sender's draw: so a few look and the rest stay asleep.
 */
export function turnAt(peers: readonly Peers[], hint: WakeHint | undefined): 'now' | 'soon' | 'never' {
  if (hint === undefined || peers.length === 0) return 'now'
  let nearest = Number.POSITIVE_INFINITY
  for (const { definitionId, count, rank } of peers) {
    if (!hint.definitionIds.includes(definitionId)) continue
    const first = Math.floor(hint.draw * count)
    nearest = Math.min(nearest, (rank - first + count) % count)
  }
  if (nearest < LOOK_NOW) return 'now'
  return nearest < LOOK_SOON ? 'soon' : 'never'
}

/** The longest interval between a worker's looks, however many workers share the polling. */
const SHARED_MAX_MS = 20_000
/** How long a worker waits before it looks "soon", so that others can look first. */
const SOON_MS = 30

/** One worker among those that look for the same work. */
export class Crowd {
  readonly #clock: Clock
  readonly #wake: () => void
  #peers: readonly Peers[] = []
  #soon: Timer | undefined

  /** `wake` makes the worker look. */
  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock
    this.#wake = wake
  }

  /** Takes the peers from a renewal. Returns whether there are fewer than before: then the remaining ones must look more often. */
  know(peers: readonly Peers[]): boolean {
    const before = shareOf(this.#peers)
    this.#peers = peers
    return shareOf(peers) < before
  }

  /** The interval at which this worker looks, where a single worker would look every `aloneMs`. */
  shared(aloneMs: number): number {
    return Math.max(aloneMs, Math.min(SHARED_MAX_MS, aloneMs * shareOf(this.#peers)))
  }

  /** Handles a hint that there may be work. If enough peers come before this worker, it does not look. */
  hinted(hint: WakeHint | undefined): void {
    const turn = turnAt(this.#peers, hint)
    if (turn === 'now') return this.#wake()
    if (turn === 'never' || this.#soon !== undefined) return
    this.#soon = this.#clock.after(SOON_MS, () => {
      this.#soon = undefined
      this.#wake()
    })
  }

  stop(): void {
    this.#soon?.cancel()
  }
}
