import { codeOf } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { type AdapterName, refused } from '../connection/given-transaction.ts'
import { storeIdentity } from './read-store.ts'

/** The identity of the adapter's own store. */
export interface OwnIdentity {
  /** As far as it is known already. */
  readonly known: string | undefined
  /** Asks for it. Never waits without a limit. */
  read(): Promise<string>
}

/**
 * Makes sure that a transaction is of the store this adapter works with: a run that was started in another database would be lost there.
 * `key` is what stands for its connection: one that was looked at before is known.
 */
export class SameStore {
  readonly #adapter: AdapterName
  readonly #schema: string
  readonly #own: OwnIdentity
  readonly #known = new WeakSet<object>()

  constructor(adapter: AdapterName, schema: string, own: OwnIdentity) {
    this.#adapter = adapter
    this.#schema = schema
    this.#own = own
  }

  knows(key: object): boolean {
    return this.#known.has(key)
  }

  /**
   * Throws `invalid_option`. A connection that leads to the adapter's own address is believed without asking beside the transaction: the
   * caller may hold the last connection there is.
   */
  async check(key: object, given: Connection, leadsHere = false): Promise<void> {
    if (this.#known.has(key)) return
    const found = await this.#identityOf(given, leadsHere)
    const own = leadsHere ? (this.#own.known ?? found) : await this.#own.read()
    // A transaction whose snapshot is older than the store sees none.
    if (found !== own && !(leadsHere && found === '')) {
      throw refused(
        this.#adapter,
        `belongs to another database than the adapter's (${found || 'an empty one'})`,
      )
    }
    this.#known.add(key)
  }

  async #identityOf(given: Connection, leadsHere: boolean): Promise<string> {
    try {
      // Elsewhere there may be no such table. Under a savepoint the question then leaves the caller's transaction as it was.
      return await (leadsHere ? storeIdentity(given) : given.transaction(storeIdentity))
    } catch (error) {
      const isMissing = codeOf(error) === '42P01' || codeOf(error) === '3F000'
      if (!isMissing) throw error
      throw refused(
        this.#adapter,
        `belongs to another database than the adapter's: there is no schema "${this.#schema}" of Belay's in it`,
        error,
      )
    }
  }
}
