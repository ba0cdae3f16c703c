import type { BelayError } from '../../errors.ts'
import type { Interruption } from '../decisions/decide.ts'

/** The signal of one attempt's handler. Made on first use: most handlers never look at it, and it costs more than the rest of their context. */
export class HandlerSignal {
  #reason: BelayError | undefined
  #controller: AbortController | undefined

  get isFired(): boolean {
    return this.#reason !== undefined
  }

  /** Why it fired, if a handler that stops for that reason has not failed. */
  get interruption(): Interruption | undefined {
    const code = this.#reason?.code
    return code === 'run_stopping' || code === 'worker_stopping' ? code : undefined
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Only the first reason counts. */
  fire(reason: BelayError): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
  }
}
