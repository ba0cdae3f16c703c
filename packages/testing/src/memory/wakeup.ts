/** Passes hints between the adapters connected to one store. */
export class Wakeup {
  readonly #listeners = new Set<() => void>()
  #underWay = false

  /** Returns how to stop listening. */
  listen(listener: () => void): () => void {
    // Wrapped, so that one function may listen twice and stop once.
    const entry = () => listener()
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /** Calls every listener soon. Never within the caller's own turn, as a hint that crosses a network never comes then. */
  send(): void {
    if (this.#underWay) return
    this.#underWay = true
    queueMicrotask(() => {
      this.#underWay = false
      for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener()
    })
  }
}
