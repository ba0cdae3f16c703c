import { pause } from '../pause.ts'
import type { Message } from './protocol.ts'

/** Longer than any limit of the engine's calls here. */
const HANGS_MS = 30_000
const AGAIN_MS = 250

/** The trigger's calls of the engine. Counts those that fail, and reports those that hang. */
export class Calls {
  /** How often each call failed with each code. */
  readonly failures: Record<string, number> = {}
  readonly #say: (message: Message) => void

  constructor(say: (message: Message) => void) {
    this.#say = say
  }

  /** Makes a call, and tells the supervisor if it hangs. */
  async make<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    const watch = setTimeout(() => this.#say({ type: 'hangs', call: name, forMs: HANGS_MS }), HANGS_MS)
    try {
      return await call()
    } catch (error) {
      const what = `${name}: ${codeOf(error)}`
      this.failures[what] = (this.failures[what] ?? 0) + 1
      throw error
    } finally {
      clearTimeout(watch)
    }
  }

  /** Repeats the call until it succeeds, as a caller with a key may. */
  async untilDone<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await this.make(name, call)
      } catch {
        await pause(AGAIN_MS)
      }
    }
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'not an error'
  return 'code' in error ? String(error.code) : error.message
}
