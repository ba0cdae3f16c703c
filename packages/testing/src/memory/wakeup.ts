/** Passes hints between the adapters of one store. */
export class Wakeup {
  readonly #listeners = new Set<() => void>()
  #underWay = false

  /** Returns a function that stops listening. */
  listen(listener: () => void): () => void {
    // Wrapped, so that one function may be registered twice and be removed once.
    const entry = () => listener()
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /** Calls every listener soon, but never in the caller's own turn: a hint that crosses a network never does either. */
  send(): void {
    if (this.#underWay) return
    this.#underWay = true
    queueMicrotask(() => {
      this.#underWay = false
      for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener()
    })
  }
}
