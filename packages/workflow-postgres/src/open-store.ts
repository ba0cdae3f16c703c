import type { Adapter, StoreNotice, WithinTransaction } from '@belay/workflow/adapter'
import type { Connection } from './connection/connection.ts'
import { closedError, openUntil } from './connection/open-connection.ts'
import { type MigrationReport, type MigrationSettings, migrateSchema } from './migrate/migrate.ts'
import { type MigrationPlan, planMigration } from './migrate/plan.ts'
import { checkSchemaVersion, newerSchemaNotice } from './migrate/schema-version.ts'
import { LeaseJournal } from './rows/lease-journal.ts'
import type { Wakeup } from './store/wakeup.ts'

export interface SqlAdapterParts {
  readonly name: string
  readonly schema: string
  readonly connection: Connection
  /** For renewing leases of that length, which must not wait behind anything else. Left out, they are renewed like all else. */
  readonly renewing?: (leaseMs: number) => Connection
  /** Keeps ready what renewals need while a worker is registered. Returns how to let go of it. */
  readonly holdLifeline?: () => (() => void) | undefined
  /** Everything waits while a transaction is open. */
  readonly singleSession?: boolean
  /**
   * Turns an open transaction of the caller's into a connection, also before the adapter was opened, if it can. Throws `invalid_option` for
   * what is none of this store.
   */
  readonly given: (tx: unknown, opened: OpenState) => Promise<Connection>
  /** Whether a connection beside the caller's could be had at once. Left out where there is none. */
  readonly hasFree?: () => boolean
  readonly transact: Adapter['transact']
  readonly wakeup: Wakeup
  readonly autoMigrate: boolean
  /** Tells the operator. */
  readonly tell: (notice: StoreNotice) => void
  /** What to run when the schema is missing or outdated; ends the error's message. */
  readonly remedy: string
  /** Called first by `open` and `migrate`, any number of times. */
  connect(): Promise<void>
  /** Called once, when the schema is known to be right. */
  onOpen?(): Promise<void>
  /** Called last by `close`, once. */
  disconnect(): Promise<void>
}

/** What a verb in a caller's transaction asks of the adapter. */
export interface OpenState {
  isOpen(): boolean
  open(): Promise<void>
}

/** The connection that the verbs share, from its opening to its close. */
export class OpenStore implements OpenState {
  readonly parts: SqlAdapterParts
  readonly connection: Connection
  readonly journal = new LeaseJournal()
  #opening: Promise<void> | undefined
  #isOpen = false
  #closed: Promise<void> | undefined

  constructor(parts: SqlAdapterParts) {
    this.parts = parts
    this.connection = this.whileOpen(parts.connection)
  }

  isOpen(): boolean {
    return this.#isOpen
  }

  /** Opens once; after a failure the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#openOnce().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #openOnce(): Promise<void> {
    const { schema, remedy } = this.parts
    await this.parts.connect()
    if (this.parts.autoMigrate) await this.#migrateSchema()
    const unknown = await checkSchemaVersion(this.connection, { schema, remedy })
    if (unknown.length > 0) this.parts.tell(newerSchemaNotice(schema, unknown))
    await this.parts.onOpen?.()
    this.#isOpen = true
  }

  async migrate(settings?: MigrationSettings): Promise<MigrationReport> {
    await this.parts.connect()
    return this.#migrateSchema(settings)
  }

  #migrateSchema(settings?: MigrationSettings): Promise<MigrationReport> {
    // A single session lives in one process, whose workers are of this code, or left over from a process that was killed.
    const { schema, singleSession = false } = this.parts
    const evenIfWorkersRun = settings?.evenIfWorkersRun ?? singleSession
    return migrateSchema(this.connection, schema, { ...settings, evenIfWorkersRun })
  }

  async planMigration(): Promise<MigrationPlan> {
    await this.parts.connect()
    return planMigration(this.connection, this.parts.schema)
  }

  /** What a verb runs on: the caller's transaction, or Belay's own connections. */
  async connectionFor({ tx }: WithinTransaction = {}): Promise<Connection> {
    if (tx === undefined) return this.connection
    this.throwIfClosed()
    return this.parts.given(tx, this)
  }

  whileOpen(connection: Connection): Connection {
    return openUntil(() => this.#closed !== undefined, connection)
  }

  throwIfClosed(): void {
    if (this.#closed !== undefined) throw closedError()
  }

  close(): Promise<void> {
    this.#closed ??= this.parts.wakeup.close().then(() => this.parts.disconnect())
    return this.#closed
  }
}
