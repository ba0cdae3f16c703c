import type { Timer } from '@belay/workflow/adapter'
import { afterRealTime } from './turn.ts'

/** How long time must stand still, in real milliseconds, before those who wait are told. */
const GRACE_MS = 2_000

interface Waiting {
  readonly fire: () => void
  /** What kept the process alive when the wait began. */
  readonly before: ReadonlyMap<string, number>
}

/** Notices that somebody waits for virtual time while nobody moves it, and nothing real is under way that could lead to a move. */
export class StandstillWatch {
  readonly #isBusy: () => boolean
  readonly #waiting = new Set<Waiting>()
  #moves = 0
  #disarm: () => void = () => {}

  /** `isBusy`: whether handlers run. They may wait for real I/O, after which things go on without any timer. */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy
  }

  /** Calls `fire` after each grace in which time stood still, until it is cancelled. */
  add(fire: Waiting['fire']): Timer {
    const waiting = { fire, before: activeResources() }
    this.#waiting.add(waiting)
    this.#arm()
    return {
      cancel: () => {
        this.#waiting.delete(waiting)
        if (this.#waiting.size === 0) this.#disarm()
      },
    }
  }

  /** Time does not stand still during this call. */
  async whileMoving(move: () => Promise<void>): Promise<void> {
    this.#moves += 1
    this.#disarm()
    try {
      await move()
    } finally {
      this.#moves -= 1
      this.#arm()
    }
  }

  #arm(): void {
    this.#disarm()
    if (this.#moves > 0 || this.#waiting.size === 0) return
    this.#disarm = afterRealTime(GRACE_MS, () => {
      this.#tell()
      this.#arm()
    })
  }

  #tell(): void {
    if (this.#isBusy()) return
    const now = activeResources()
    for (const { fire, before } of [...this.#waiting]) if (!hasMore(now, before)) fire()
  }
}

/** Sockets, files, timers and the like, by kind. Empty where the runtime does not tell. */
function activeResources(): ReadonlyMap<string, number> {
  const { process } = globalThis as { process?: { getActiveResourcesInfo?: () => readonly string[] } }
  const counts = new Map<string, number>()
  for (const kind of process?.getActiveResourcesInfo?.() ?? []) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** Whether something real was begun since, and goes on. */
function hasMore(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): boolean {
  return [...now].some(([kind, count]) => count > (before.get(kind) ?? 0))
}
