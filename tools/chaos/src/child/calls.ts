import { pause } from '../pause.ts'
import type { Message } from './protocol.ts'

/** Longer than any bound that a call of the engine's may have here. */
const HANGS_MS = 30_000
const AGAIN_MS = 250

/** The trigger's calls of the engine: counted when they fail, told of when they hang. */
export class Calls {
  /** How often which call failed with which code. */
  readonly failures: Record<string, number> = {}
  readonly #say: (message: Message) => void

  constructor(say: (message: Message) => void) {
    this.#say = say
  }

  /** Makes a call, and tells the supervisor if it has no end. */
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

  /** Makes it until it succeeds, as a caller with a key may. */
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
