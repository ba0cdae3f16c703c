import pLimit from 'p-limit'
import { RequestError } from './problem.ts'

/** Reads under way at a time. They share the event loop and the connections of the host's worker. */
const READING_MAX = 4
const WAITING_MAX = 200
/** Of one viewer: the others still get their turn. */
const WAITING_OF_ONE_MAX = 50

/** The lane that all reads of a dashboard share: a few at a time, the others in line. What is over the bound of the line is refused at once. */
export class Lane {
  readonly #limit = pLimit(READING_MAX)
  readonly #waiting = new Map<string, number>()

  /** Throws `RequestError` 429 for a viewer with too many reads in line, 503 for a line that is full. What its browser has given up is not read. */
  async within<Answer>(
    { by, signal }: { readonly by: string; readonly signal: AbortSignal },
    read: () => Promise<Answer>,
  ): Promise<Answer> {
    if (this.#limit.pendingCount >= WAITING_MAX)
      throw refused(503, 'The dashboard has too many reads in line.')
    const own = this.#waiting.get(by) ?? 0
    if (own >= WAITING_OF_ONE_MAX) throw refused(429, 'You have too many reads in line.')
    this.#waiting.set(by, own + 1)
    return this.#limit(() => {
      this.#left(by)
      if (signal.aborted) throw refused(503, 'Nobody waits for this answer any more.')
      return read()
    })
  }

  #left(by: string): void {
    const own = (this.#waiting.get(by) ?? 1) - 1
    if (own === 0) this.#waiting.delete(by)
    else this.#waiting.set(by, own)
  }
}

function refused(status: number, what: string): RequestError {
  return new RequestError(status, 'too_many_reads', `${what} Try again in a second.`, { 'retry-after': '1' })
}
