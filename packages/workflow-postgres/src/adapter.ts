import type { Adapter, StoreNotice, WithinTransaction } from '@belay/workflow/adapter'
import { ClaimPace, claim } from './claim/claim.ts'
import { ClaimMarks } from './claim/claim-marks.ts'
import type { Connection } from './connection/connection.ts'
import { closedError, openUntil } from './connection/open-connection.ts'
import { changeRun } from './control/change-run.ts'
import { changeWithin } from './control/change-within.ts'
import { readHistory } from './control/read-history.ts'
import { type MigrationPatience, type MigrationReport, migrateSchema } from './migrate/migrate.ts'
import { type MigrationPlan, planMigration } from './migrate/plan.ts'
import { checkSchemaVersion, newerSchemaNotice } from './migrate/schema-version.ts'
import { countRuns } from './read/count-runs.ts'
import { findRun } from './read/find-run.ts'
import { listRuns } from './read/list-runs.ts'
import { load } from './read/read-payloads.ts'
import { readRun } from './read/read-runs.ts'
import { findEnded } from './retention/find-ended.ts'
import { prune } from './retention/prune-runs.ts'
import { releaseKeys } from './retention/release-keys.ts'
import { readAttempts } from './rows/kept-attempts.ts'
import { LeaseJournal } from './rows/lease-journal.ts'
import { findDefinition, readDefinitions } from './rows/read-definitions.ts'
import { recorded } from './settle/read-attempts.ts'
import { settle } from './settle/settle.ts'
import { deliverSignals } from './signals/deliver-signals.ts'
import { findApprovals } from './signals/find-approvals.ts'
import { saveDefinitions } from './start/save-definitions.ts'
import { saveWithin } from './start/save-within.ts'
import { startRuns } from './start/start-runs.ts'
import { startWithin } from './start/start-within.ts'
import type { Wakeup } from './store/wakeup.ts'
import { beginUndo } from './undo/begin-undo.ts'
import { cancelRuns } from './undo/cancel-runs.ts'
import { drain } from './undo/drain-runs.ts'
import { expireRuns, upcoming } from './undo/expire-runs.ts'
import { diagnose } from './workers/diagnose.ts'
import { heldAndTrimmed } from './workers/held.ts'
import { listHeld } from './workers/list-held.ts'
import { listWorkers } from './workers/list-workers.ts'
import { now, readStatuses, stopping } from './workers/read-state.ts'
import { RegisteredWorkers } from './workers/registered-workers.ts'
import { deregister, register, renew } from './workers/registration.ts'
import { sweep } from './workers/sweep-workers.ts'

/** What the two adapters of this package have in common: everything but how they connect. */
export interface SqlAdapter extends Adapter {
  readonly schema: string
  /** Brings the schema up to this version of Belay. Safe when any number of processes call it at once. */
  migrate(patience?: MigrationPatience): Promise<MigrationReport>
  /** Tells what `migrate` would do, and writes nothing. */
  planMigration(): Promise<MigrationPlan>
}

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

/** The verbs of the port over a connection. Each is one statement, or says why it is not. */
export function sqlAdapter(parts: SqlAdapterParts): SqlAdapter {
  const store = new OpenStore(parts)
  return {
    ...connectionVerbs(store),
    ...startVerbs(store),
    ...workerVerbs(store),
    ...attemptVerbs(store),
    ...stopVerbs(store),
    ...operatorVerbs(store),
    ...readingVerbs(store),
    ...upkeepVerbs(store),
  }
}

function connectionVerbs(store: OpenStore) {
  const { name, schema, singleSession, wakeup } = store.parts
  return {
    name,
    schema,
    ...(singleSession === undefined ? {} : { singleSession }),
    open: () => store.open(),
    migrate: (patience) => store.migrate(patience),
    planMigration: () => store.planMigration(),
    onWake: (listener) => wakeup.onWake(listener),
    wake: (definitionIds) => wakeup.wake(definitionIds),
    close: () => store.close(),
  } satisfies Partial<SqlAdapter>
}

function startVerbs(store: OpenStore) {
  const { connection, journal } = store
  const { wakeup } = store.parts
  const beside = () => (store.parts.hasFree?.() === true ? connection : null)
  return {
    now: async (within) => now(await store.connectionFor(within)),
    async saveDefinitions(definitions, within) {
      if (within?.tx === undefined) return saveDefinitions(connection, definitions)
      return saveWithin({ transaction: await store.connectionFor(within), beside }, definitions)
    },
    readDefinitions: async (ids, within) => readDefinitions(await store.connectionFor(within), ids),
    findDefinition: async (wanted, within) => findDefinition(await store.connectionFor(within), wanted),
    async startRuns(runs, within) {
      if (within?.tx === undefined) {
        const { lease } = within ?? {}
        return startRuns(connection, runs, lease === undefined ? {} : { leasing: { lease, journal } })
      }
      const transaction = await store.connectionFor(within)
      return startWithin({ transaction, beside, wakeup }, runs)
    },
  } satisfies Partial<SqlAdapter>
}

function workerVerbs(store: OpenStore) {
  const { parts, connection, journal } = store
  const workers = new RegisteredWorkers(() => parts.holdLifeline?.())
  return {
    async registerWorker(worker) {
      await register(connection, worker)
      workers.add(worker.workerId)
    },
    renew(renewal) {
      const renewing = parts.renewing?.(renewal.leaseMs) ?? parts.connection
      return renew(store.whileOpen(renewing), renewal)
    },
    async deregisterWorker(worker) {
      await deregister(connection, worker)
      journal.forget(worker.workerId)
      workers.delete(worker.workerId)
    },
    sweep: (request) => sweep(connection, request),
    listWorkers: (request) => listWorkers(connection, request),
    listHeld: (request) => listHeld(connection, request),
  } satisfies Partial<SqlAdapter>
}

function attemptVerbs(store: OpenStore) {
  const { connection, journal } = store
  const memory = { marks: new ClaimMarks(), journal, pace: new ClaimPace() }
  return {
    claim: (request) => claim(connection, request, memory),
    held: (request) => heldAndTrimmed(connection, request, journal),
    async settle(request) {
      const { moment } = journal
      const settlement = await settle(connection, request)
      journal.ended(request.workerId, settlement.runs, moment)
      return settlement
    },
    async transact(request) {
      store.throwIfClosed()
      const { moment } = journal
      const transacted = await store.parts.transact(request)
      if (transacted.type === 'settled') journal.ended(request.workerId, transacted.settlement.runs, moment)
      return transacted
    },
    recorded: (request) => recorded(connection, request),
    load: (requests) => load(connection, requests),
  } satisfies Partial<SqlAdapter>
}

function stopVerbs({ connection, journal }: OpenStore) {
  return {
    stopping: (request) => stopping(connection, request),
    drain: (request) => drain(connection, request),
    beginUndo: (plans, lease) => beginUndo(connection, plans, lease, journal),
    cancelRuns: (request) => cancelRuns(connection, request),
    expireRuns: (request) => expireRuns(connection, request),
    upcoming: (request) => upcoming(connection, request),
  } satisfies Partial<SqlAdapter>
}

function operatorVerbs(store: OpenStore) {
  const { connection } = store
  const { wakeup } = store.parts
  return {
    async changeRun(request, within) {
      if (within?.tx === undefined) return changeRun(connection, request)
      return changeWithin({ transaction: await store.connectionFor(within), wakeup }, request)
    },
    async deliverSignals(signals, within) {
      const over = await store.connectionFor(within)
      const deliveries = await deliverSignals(over, signals)
      const isDelivered = deliveries.some(({ result }) => result === 'delivered')
      if (within?.tx !== undefined && isDelivered) {
        await wakeup.wakeAfter?.(over, [...new Set(signals.map(({ definitionId }) => definitionId))])
      }
      return deliveries
    },
    findApprovals: (request) => findApprovals(connection, request),
    readHistory: (request) => readHistory(connection, request),
    readAttempts: (request) => readAttempts(connection, request),
  } satisfies Partial<SqlAdapter>
}

function readingVerbs(store: OpenStore) {
  const { connection } = store
  return {
    findRun: async (run, within) => findRun(await store.connectionFor(within), run),
    readRun: (runId) => readRun(connection, runId),
    readStatuses: (runIds, options) => readStatuses(connection, runIds, options),
    listRuns: (filter) => listRuns(connection, filter),
    countRuns: (request) => countRuns(connection, request),
  } satisfies Partial<SqlAdapter>
}

function upkeepVerbs({ connection, parts: { name, schema } }: OpenStore) {
  return {
    findEnded: (request) => findEnded(connection, request),
    prune: (request) => prune(connection, request),
    releaseKeys: (request) => releaseKeys(connection, request),
    diagnose: (request) => diagnose(connection, { ...request, adapter: name, schema }),
  } satisfies Partial<SqlAdapter>
}

/** The connection that the verbs share, from its opening to its close. */
class OpenStore implements OpenState {
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
    if (this.parts.autoMigrate) await migrateSchema(this.connection, schema)
    const unknown = await checkSchemaVersion(this.connection, { schema, remedy })
    if (unknown.length > 0) this.parts.tell(newerSchemaNotice(schema, unknown))
    await this.parts.onOpen?.()
    this.#isOpen = true
  }

  async migrate(patience?: MigrationPatience): Promise<MigrationReport> {
    await this.parts.connect()
    return migrateSchema(this.connection, this.parts.schema, patience)
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
