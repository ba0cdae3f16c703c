import type { StoreNotice } from '@belay/workflow/adapter'

/** The same notice is not repeated sooner. */
const REPEAT_AFTER_MS = 60_000

/** Passes on what an operator should know: at once, or to the first listener. */
export class Notices {
  readonly #listeners = new Set<(notice: StoreNotice) => void>()
  readonly #toldAt = new Map<string, number>()
  #untold: StoreNotice[] = []

  listen(listener: (notice: StoreNotice) => void): () => void {
    const added = (notice: StoreNotice) => listener(notice)
    this.#listeners.add(added)
    const untold = this.#untold
    this.#untold = []
    for (const notice of untold) added(notice)
    return () => this.#listeners.delete(added)
  }

  tell(notice: StoreNotice): void {
    const now = performance.now()
    const toldAt = this.#toldAt.get(notice.code)
    if (toldAt !== undefined && now - toldAt < REPEAT_AFTER_MS) return
    this.#toldAt.set(notice.code, now)
    if (this.#listeners.size === 0) this.#untold.push(notice)
    for (const listener of this.#listeners) listener(notice)
  }
}
