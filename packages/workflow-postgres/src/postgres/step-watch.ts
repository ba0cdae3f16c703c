import type { ClientBase } from 'pg'
import type { Connection } from '../connection/connection.ts'
import { type Backend, goneBackends } from '../transact/step-backends.ts'

/** A step's transaction while its handler uses it. */
export interface WatchedTransaction extends Backend {
  readonly client: ClientBase
}

/**
 * Detects that the backend of an open transaction is gone although the connection is silent. A network can lose the news, and then the handler would
 * wait for its statement for ever. Asks over Belay's own connection, for all transactions at once, and only while some are open for longer than the
 * interval. If the database cannot be asked, it does nothing.
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

  /** Watches a transaction. Returns a function that stops watching. */
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

  /** Checks the transactions that were already open an interval ago. Most end sooner and cost nothing. */
  async #look(watched: readonly WatchedTransaction[]): Promise<void> {
    const old = watched.filter((transaction) => this.#open.has(transaction))
    const gone = old.length === 0 ? [] : await goneBackends(this.#connection, old).catch(() => [])
    for (const transaction of gone) {
      // The settlement, which ends the watch, may have begun meanwhile.
      if (this.#open.delete(transaction)) cutOff(transaction.client)
    }
    this.#timer = undefined
    if (this.#open.size > 0) this.#schedule()
  }
}

/** Closes a connection on our side, so that every pending statement fails. */
export function cutOff(client: ClientBase): void {
  // If the client waits for an answer, `end` destroys the socket. Otherwise it says goodbye, and refuses statements from then on.
  const { end } = client as { end?: () => Promise<void> }
  end?.call(client)?.catch(() => {})
}
