import type { Connection } from './connection/connection.ts'
import { type AdapterName, refused } from './connection/given-transaction.ts'
import { codeOf } from './errors.ts'
import { storeIdentity } from './statements/read-store.ts'

/**
 * Makes sure that a transaction is of the store this adapter works with: a run that was started in another database would be lost there.
 * `key` is what stands for its connection: one that was looked at before is known.
 */
export class SameStore {
  readonly #adapter: AdapterName
  readonly #schema: string
  readonly #own: () => Promise<string>
  readonly #known = new WeakSet<object>()

  constructor(adapter: AdapterName, schema: string, own: () => Promise<string>) {
    this.#adapter = adapter
    this.#schema = schema
    this.#own = own
  }

  /** Throws `invalid_option`. */
  async check(key: object, given: Pick<Connection, 'query'>): Promise<void> {
    if (this.#known.has(key)) return
    const [found, own] = [await this.#identityOf(given), await this.#own()]
    if (found !== own) {
      throw refused(
        this.#adapter,
        `belongs to another database than the adapter's (${found || 'an empty one'})`,
      )
    }
    this.#known.add(key)
  }

  async #identityOf(given: Pick<Connection, 'query'>): Promise<string> {
    try {
      return await storeIdentity(given)
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
