import { codeOf } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { readIsOdd, seenStore } from '../store/read-store.ts'
import { evenly } from './odd-session.ts'
import { type AdapterName, refused } from './recognise.ts'

/** The identity of the adapter's own store. */
export interface OwnIdentity {
  /** Undefined until it was read. */
  readonly known: string | undefined
  /** Reads it. Never waits without a limit. */
  read(): Promise<string>
}

/**
 * Checks that a transaction belongs to the store of this adapter: a run started in another database would be lost. `key` stands for the transaction's
 * connection: the store of each is checked once. Its settings are looked at each time: the caller, or the server's configuration, may change them.
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

  /** The transaction, in which values and operators mean what Belay's statements expect. */
  async over(given: Connection): Promise<Connection> {
    const [session] = await given.query(readIsOdd, [])
    return session!.is_odd ? evenly(given) : given
  }

  /**
   * Resolves to the transaction as {@link over} does. Throws `invalid_option`. A connection to the adapter's own address is trusted without a query beside the transaction: the caller may hold the
   * last connection there is.
   */
  async check(key: object, given: Connection, leadsHere = false): Promise<Connection> {
    if (this.#known.has(key)) return this.over(given)
    const { identity: found, isOdd } = await this.#seenOver(given, leadsHere)
    const own = leadsHere ? (this.#own.known ?? found) : await this.#own.read()
    // A transaction whose snapshot is older than the store sees no identity.
    if (found !== own && !(leadsHere && found === '')) {
      throw refused(
        this.#adapter,
        `belongs to another database than the adapter's (${found || 'an empty one'})`,
      )
    }
    this.#known.add(key)
    return isOdd ? evenly(given) : given
  }

  async #seenOver(given: Connection, leadsHere: boolean): ReturnType<typeof seenStore> {
    try {
      // Another database may lack the table. Under a savepoint, the failed query leaves the caller's transaction intact.
      return await (leadsHere ? seenStore(given) : given.transaction(seenStore))
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
