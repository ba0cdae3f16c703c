import type { PGlite, Transaction } from '@electric-sql/pglite'
import { PreparedStatements } from '../../../packages/workflow-postgres/src/pglite/prepared.ts'
import { type Call, type CallAnswer, problemOf, type Statement } from '../messages.ts'

/** What the engine takes for an outage: "cannot connect now". */
const CUT = { name: 'DatabaseError', code: '57P03', message: 'The database does not answer: it was cut off.' }

/** One thread. Another one may have the same name later. */
interface Client {
  readonly name: string
}

interface Open {
  readonly client: Client
  readonly transaction: Transaction
  /** Ends PGlite's transaction: commits if it resolves, rolls back if it rejects. */
  readonly commit: () => void
  readonly rollBack: () => void
  /** Settles once it has ended. */
  readonly ended: () => Promise<void>
}

class GivenUp extends Error {}

/** Serves one database to many threads. Only one transaction can be open: PGlite has one session, and all others wait for it. */
export class DatabaseServer {
  readonly #database: PGlite
  readonly #prepared: PreparedStatements
  /** By their texts: the names under which statements are prepared. */
  readonly #names = new Map<string, string>()
  readonly #stored: () => Promise<void>
  readonly #tell: (statement: Statement) => void
  readonly #open = new Map<number, Open>()
  readonly #gone = new Set<Client>()
  #transactions = 0
  #isCut = false

  /** `stored` resolves once all that was committed before is stored. */
  constructor(database: PGlite, stored: () => Promise<void>, tell: (statement: Statement) => void) {
    this.#database = database
    this.#prepared = new PreparedStatements(database)
    this.#stored = stored
    this.#tell = tell
  }

  connect(client: Client, port: MessagePort): void {
    port.onmessage = async ({ data }: MessageEvent<Call>) => {
      port.postMessage(await this.#answer(client, data))
    }
  }

  /** The thread is gone: what it had begun is rolled back. Resolves to whether there was anything. */
  async disconnect(client: Client): Promise<boolean> {
    this.#gone.add(client)
    return this.#rollBack(({ client: of }) => of === client)
  }

  cut(ms: number): void {
    this.#isCut = true
    void this.#rollBack(() => true)
    setTimeout(() => {
      this.#isCut = false
    }, ms)
  }

  async #rollBack(which: (open: Open) => boolean): Promise<boolean> {
    const found = [...this.#open.values()].filter(which)
    for (const { rollBack } of found) rollBack()
    await Promise.allSettled(found.map(({ ended }) => ended()))
    return found.length > 0
  }

  async #answer(client: Client, call: Call): Promise<CallAnswer> {
    const { id } = call
    if (this.#isCut) return { id, problem: CUT }
    try {
      const value = await this.#run(client, call)
      // Others have their turn meanwhile, and what they commit is stored together.
      if (isCommitted(call)) await this.#stored()
      return { id, value }
    } catch (error) {
      return { id, problem: this.#isCut ? CUT : problemOf(error) }
    }
  }

  async #run(client: Client, call: Call): Promise<unknown> {
    switch (call.call) {
      case 'begin':
        return this.#begin(client)
      case 'commit': {
        const { commit, ended } = this.#openOf(call.within)
        commit()
        return ended()
      }
      case 'rollback': {
        const { rollBack, ended } = this.#openOf(call.within)
        rollBack()
        return ended().catch(() => {})
      }
      case 'exec':
        return this.#session(call.within).exec(call.text)
      case 'query':
        return this.#query(client, call)
    }
  }

  async #query(client: Client, call: Call & { readonly call: 'query' | 'exec' }) {
    const since = performance.now()
    const rows = await this.#rows(call)
    if (isClaim(call.text))
      this.#tell({ client: client.name, text: call.text, ms: performance.now() - since, rows: rows.length })
    return { rows }
  }

  /** What has no values may be several statements of the reader. All else is of Belay and the page, and is parsed and planned once. */
  async #rows({ text, values = [], within }: Call & { readonly call: 'query' | 'exec' }) {
    const session = this.#session(within)
    if (values.length === 0) return (await session.query(text)).rows
    const statement = { name: this.#nameOf(text), text }
    if (within !== undefined) return this.#prepared.runWithin(statement, values)
    const alone = () => this.#prepared.runAlone(statement, values)
    return (await this.#database._runExclusiveTransaction(alone))!
  }

  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `playground_${this.#names.size}`
    this.#names.set(text, name)
    return name
  }

  #session(within: number | undefined): Pick<PGlite | Transaction, 'query' | 'exec'> {
    return within === undefined ? this.#database : this.#openOf(within).transaction
  }

  #openOf(within: number): Open {
    const open = this.#open.get(within)
    if (open === undefined) throw Object.assign(new Error('The transaction has ended.'), { code: '25P01' })
    return open
  }

  /** Resolves to its number, once PGlite lets it begin. */
  #begin(client: Client): Promise<number> {
    const id = ++this.#transactions
    return new Promise((begun, refused) => {
      const over = this.#database.transaction(
        (transaction) =>
          new Promise<void>((commit, reject) => {
            const rollBack = () => reject(new GivenUp('The transaction was given up.'))
            // It died, or the database was cut off, while this waited for its turn.
            if (this.#gone.has(client) || this.#isCut) return rollBack()
            this.#open.set(id, { client, transaction, commit, rollBack, ended: () => over })
            begun(id)
          }),
      )
      const forget = () => this.#open.delete(id)
      over.then(forget, (error: unknown) => {
        forget()
        refused(error)
      })
    })
  }
}

function isCommitted(call: Call): boolean {
  return call.call === 'commit' || ('text' in call && call.within === undefined)
}

function isClaim(text: string): boolean {
  return text.includes('claimed_steps as')
}
