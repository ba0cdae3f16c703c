import { type Adapter, BelayError, type StoreNotice, type WithinTransaction } from '@belay/workflow/adapter'
import type { Connection } from './connection/connection.ts'
import { closedError, openUntil } from './connection/open-connection.ts'
import type { Statement } from './connection/statement.ts'
import { type MigrationReport, type MigrationSettings, migrateSchema } from './migrate/migrate.ts'
import { type MigrationPlan, planMigration } from './migrate/plan.ts'
import { checkSchemaVersion, migratedNotice, newerSchemaNotice } from './migrate/schema-version.ts'
import { ClaimMarks, type Placed } from './rows/claim-marks.ts'
import { LeaseJournal } from './rows/lease-journal.ts'
import type { Wakeup } from './store/wakeup.ts'

export interface SqlAdapterParts {
  readonly name: string
  readonly schema: string
  readonly connection: Connection
  /**
   * The connection for renewing leases of that length (milliseconds). A renewal must not wait behind anything else. If omitted, renewals use the
   * common connection.
   */
  readonly renewing?: (leaseMs: number) => Connection
  /** Keeps open what renewals need while a worker is registered. Returns a function that releases it. */
  readonly holdLifeline?: () => (() => void) | undefined
  /** The store has one session: everything else waits while a transaction is open. */
  readonly singleSession?: boolean
  /**
   * Turns a caller's open transaction into a connection; if possible, also before the adapter was opened. Throws `invalid_option` if it does not
   * belong to this store.
   */
  readonly given: (tx: unknown, opened: OpenState) => Promise<Connection>
  /** Whether a connection besides the caller's is free now. Omitted where there is none. */
  readonly hasFree?: () => boolean
  readonly transact: Adapter['transact']
  readonly wakeup: Wakeup
  /** Undefined: only in development mode. */
  readonly autoMigrate: boolean | undefined
  /** Passes a notice to the operator. */
  readonly tell: (notice: StoreNotice) => void
  /** What to run when the schema is missing or outdated; the end of the error's message. */
  readonly remedy: string
  /** `open` and `migrate` call it first, any number of times. */
  connect(): Promise<void>
  /** Called once, when the schema is known to be right. `expire` ends the leases of workers of a process that is gone. */
  onOpen?(expire?: Statement<unknown>): Promise<void>
  /** Called when the store cannot be used for now. `open` may be called again. */
  onOpenFailed?(): Promise<void>
  /** `close` calls it last, once. */
  disconnect(): Promise<void>
}

/** What a verb in a caller's transaction may ask the adapter. */
export interface OpenState {
  isOpen(): boolean
  open(): Promise<void>
}

/** The connection that the verbs share, from opening to closing. */
export class OpenStore implements OpenState {
  readonly parts: SqlAdapterParts
  readonly connection: Connection
  readonly journal = new LeaseJournal()
  readonly marks = {
    marks: new ClaimMarks('all'),
    itemMarks: new ClaimMarks('forward'),
    undoMarks: new ClaimMarks('undos'),
    lateMarks: new ClaimMarks('forward'),
  }
  #opening: Promise<void> | undefined
  #isOpen = false
  #isDevelopment = false
  #closed: Promise<void> | undefined

  constructor(parts: SqlAdapterParts) {
    this.parts = parts
    this.connection = this.whileOpen(parts.connection)
  }

  isOpen(): boolean {
    return this.#isOpen
  }

  /** This process has queued steps that may lie before what was claimed last. */
  placedBehind(placed: Placed): void {
    this.marks.marks.placedBehind(placed)
    if (placed !== 'undos') this.marks.itemMarks.placedBehind(placed)
    this.marks.undoMarks.placedBehind(placed)
  }

  /** Opens once. After a failure, the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#openOnce().catch(async (error: unknown) => {
      this.#opening = undefined
      if (isUnavailable(error)) await this.parts.onOpenFailed?.()
      throw error
    })
    return this.#opening
  }

  /** An engine in development mode uses this store. */
  allowMigrations(): void {
    this.#isDevelopment = true
  }

  async #openOnce(): Promise<void> {
    const { schema, remedy, autoMigrate } = this.parts
    await this.parts.connect()
    if (autoMigrate === true) await this.#migrateSchema()
    else if (autoMigrate === undefined && this.#isDevelopment) await this.#migrateAndTell()
    const unknown = await checkSchemaVersion(this.connection, { schema, remedy })
    if (unknown.length > 0) this.parts.tell(newerSchemaNotice(schema, unknown))
    await this.parts.onOpen?.()
    this.#isOpen = true
  }

  async migrate(settings?: MigrationSettings): Promise<MigrationReport> {
    await this.parts.connect()
    return this.#migrateSchema(settings)
  }

  /** In development nobody asked for this migration, so its notice says what happened, and how to prevent it. */
  async #migrateAndTell(): Promise<void> {
    const { applied } = await this.#migrateSchema()
    if (applied.length > 0) this.parts.tell(migratedNotice(this.parts.schema, applied))
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

  /** Where a verb runs: in the caller's transaction, or on Belay's own connections. */
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

function isUnavailable(error: unknown): boolean {
  return BelayError.is(error) && error.code === 'store_unavailable'
}
