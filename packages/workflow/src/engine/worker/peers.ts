import type { Peers, WakeHint } from '../../adapter/index.ts'
import type { Clock, Timer } from '../../clock.ts'

/** Workers that a hint sends to look at once, of all idle ones that could take the work. */
const LOOK_NOW = 3
/** And those that look a moment later, should the first have gone or be busy by then. */
const LOOK_SOON = 9

/**
 * Idle workers share their polling: of n that could do the same work each looks n times as seldom, so that together they look as often as
 * one alone. The rarest definition counts: a worker that alone has handlers for one keeps looking for all.
 */
export function shareOf(peers: readonly Peers[]): number {
  return Math.max(1, Math.min(...(peers.length === 0 ? [1] : peers.map(({ count }) => count))))
}

/**
 * Whether a worker should look now, in a moment, or not at all when it is told that there is work. Every worker that hears of it decides
 * alone, by its place among its peers and the number that the sender drew: so a few look, whichever they are, and the rest stay asleep.
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

/** However many workers share the looking, each looks this often. */
const SHARED_MAX_MS = 20_000
/** A worker that is told to look "soon" waits this long for others to have been quicker. */
const SOON_MS = 30

/** One worker among those that look for the same work. */
export class Crowd {
  readonly #clock: Clock
  readonly #wake: () => void
  #peers: readonly Peers[] = []
  #soon: Timer | undefined

  /** `wake` has the worker look. */
  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock
    this.#wake = wake
  }

  /** A renewal told who there is. Returns whether fewer look now: those that are left must not sleep on as if there were more of them. */
  know(peers: readonly Peers[]): boolean {
    const before = shareOf(this.#peers)
    this.#peers = peers
    return shareOf(peers) < before
  }

  /** How often this worker looks at what one alone would look at once in `aloneMs`. */
  shared(aloneMs: number): number {
    return Math.max(aloneMs, Math.min(SHARED_MAX_MS, aloneMs * shareOf(this.#peers)))
  }

  /** There may be work. Others may be nearer to it, and then this worker need not look. */
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
