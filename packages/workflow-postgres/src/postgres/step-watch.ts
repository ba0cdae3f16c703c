import type { ClientBase } from 'pg'
import type { Connection } from '../connection/connection.ts'
import { type Backend, goneBackends } from '../transact/step-backends.ts'

/** A step's transaction that its handler has. */
export interface WatchedTransaction extends Backend {
  readonly client: ClientBase
}

/**
 * Notices when the backend of an open transaction is gone although its connection says nothing: a network can swallow the news, and then
 * the handler would wait for its statement for ever. Asks over Belay's own connection, for all transactions at once, and only while some
 * are open for longer than the interval. When the database cannot be asked, nothing is known, and nothing is done.
 */
export class StepWatch {
  readonly #connection: Connection
  readonly #everyMs: number
  readonly #open = new Set<WatchedTransaction>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(connection: Connection, everyMs: number) {
    this.#connection = connection
    this.#everyMs = everyMs
  }

  /** Watches a transaction. Returns how to stop it. */
  add(transaction: WatchedTransaction): () => void {
    this.#open.add(transaction)
    this.#schedule()
    return () => {
      this.#open.delete(transaction)
    }
  }

  #schedule(): void {
    if (this.#timer !== undefined) return
    const watched = [...this.#open]
    this.#timer = setTimeout(() => void this.#look(watched), this.#everyMs)
    this.#timer.unref()
  }

  /** Those that were open an interval ago: most end sooner, and cost nothing. */
  async #look(watched: readonly WatchedTransaction[]): Promise<void> {
    const old = watched.filter((transaction) => this.#open.has(transaction))
    const gone = old.length === 0 ? [] : await goneBackends(this.#connection, old).catch(() => [])
    for (const transaction of gone) {
      // Its settlement, which ends the watch, may have begun meanwhile.
      if (this.#open.delete(transaction)) cutOff(transaction.client)
    }
    this.#timer = undefined
    if (this.#open.size > 0) this.#schedule()
  }
}

/** Closes a connection on our side, so that whoever waits for an answer on it gets an error. */
export function cutOff(client: ClientBase): void {
  // Of a client that waits for an answer, `end` destroys the socket; of another it says goodbye, and refuses statements from then on.
  const { end } = client as { end?: () => Promise<void> }
  end?.call(client)?.catch(() => {})
}
