import type { AttemptEnd } from '../decisions/decide.ts'

/** Ends the wait for a handler in a transaction, or for its turn. Most attempts have none. */
export class CutOff {
  #isCut = false
  #controller: AbortController | undefined
  #cut: () => void = () => {}

  /** Fires when the attempt is cut off. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isCut) this.#controller.abort()
    return this.#controller.signal
  }

  cut(): void {
    this.#isCut = true
    this.#controller?.abort()
    this.#cut()
  }

  /** Ends as the performance does, or as given up when it is cut off, even if the handler continues. */
  end(perform: () => AttemptEnd | Promise<AttemptEnd>): Promise<AttemptEnd> {
    return new Promise((resolve) => {
      this.#cut = () => resolve({ type: 'given_up' })
      void Promise.resolve(perform()).then(resolve)
    })
  }
}
