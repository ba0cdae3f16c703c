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
  const { schema, wakeup } = parts
  let closed: Promise<void> | undefined
  const isClosed = () => closed !== undefined
  const connection = openUntil(isClosed, parts.connection)
  const workers = new RegisteredWorkers(() => parts.holdLifeline?.())
  /** What a verb runs on: the caller's transaction, or Belay's own connections. */
  const connectionFor = async ({ tx }: WithinTransaction = {}): Promise<Connection> => {
    if (tx === undefined) return connection
    if (closed !== undefined) throw closedError()
    return parts.given(tx, opened)
  }
  const beside = () => (parts.hasFree?.() === true ? connection : null)
  const journal = new LeaseJournal()
  const memory = { marks: new ClaimMarks(), journal, pace: new ClaimPace() }
  let opening: Promise<void> | undefined
  let isOpen = false
  const openOnce = async () => {
    await parts.connect()
    if (parts.autoMigrate) await migrateSchema(connection, schema)
    const unknown = await checkSchemaVersion(connection, { schema, remedy: parts.remedy })
    if (unknown.length > 0) parts.tell(newerSchemaNotice(schema, unknown))
    await parts.onOpen?.()
    isOpen = true
  }
  const open = () => {
    opening ??= openOnce().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const opened: OpenState = { isOpen: () => isOpen, open }
  return {
    name: parts.name,
    schema,
    ...(parts.singleSession === undefined ? {} : { singleSession: parts.singleSession }),
    open,
    async migrate(patience) {
      await parts.connect()
      return migrateSchema(connection, schema, patience)
    },
    async planMigration() {
      await parts.connect()
      return planMigration(connection, schema)
    },
    now: async (within) => now(await connectionFor(within)),
    async saveDefinitions(definitions, within) {
      if (within?.tx === undefined) return saveDefinitions(connection, definitions)
      return saveWithin({ transaction: await connectionFor(within), beside }, definitions)
    },
    async startRuns(runs, within) {
      if (within?.tx === undefined) {
        const { lease } = within ?? {}
        return startRuns(connection, runs, lease === undefined ? {} : { leasing: { lease, journal } })
      }
      const transaction = await connectionFor(within)
      return startWithin({ transaction, beside, wakeup }, runs)
    },
    async registerWorker(worker) {
      await register(connection, worker)
      workers.add(worker.workerId)
    },
    renew(renewal) {
      const renewing = parts.renewing?.(renewal.leaseMs) ?? parts.connection
      return renew(openUntil(isClosed, renewing), renewal)
    },
    async deregisterWorker(worker) {
      await deregister(connection, worker)
      journal.forget(worker.workerId)
      workers.delete(worker.workerId)
    },
    claim: (request) => claim(connection, request, memory),
    held: (request) => heldAndTrimmed(connection, request, journal),
    async settle(request) {
      const { moment } = journal
      const settlement = await settle(connection, request)
      journal.ended(request.workerId, settlement.runs, moment)
      return settlement
    },
    async transact(request) {
      if (closed !== undefined) throw closedError()
      const { moment } = journal
      const transacted = await parts.transact(request)
      if (transacted.type === 'settled') journal.ended(request.workerId, transacted.settlement.runs, moment)
      return transacted
    },
    recorded: (request) => recorded(connection, request),
    load: (requests) => load(connection, requests),
    sweep: (request) => sweep(connection, request),
    stopping: (request) => stopping(connection, request),
    drain: (request) => drain(connection, request),
    beginUndo: (plans, lease) => beginUndo(connection, plans, lease, journal),
    cancelRuns: (request) => cancelRuns(connection, request),
    async changeRun(request, within) {
      if (within?.tx === undefined) return changeRun(connection, request)
      return changeWithin({ transaction: await connectionFor(within), wakeup }, request)
    },
    readHistory: (request) => readHistory(connection, request),
    readAttempts: (request) => readAttempts(connection, request),
    readDefinitions: async (ids, within) => readDefinitions(await connectionFor(within), ids),
    findDefinition: async (wanted, within) => findDefinition(await connectionFor(within), wanted),
    async deliverSignals(signals, within) {
      const over = await connectionFor(within)
      const deliveries = await deliverSignals(over, signals)
      const isDelivered = deliveries.some(({ result }) => result === 'delivered')
      if (within?.tx !== undefined && isDelivered) {
        await wakeup.wakeAfter?.(over, [...new Set(signals.map(({ definitionId }) => definitionId))])
      }
      return deliveries
    },
    findApprovals: (request) => findApprovals(connection, request),
    findRun: async (run, within) => findRun(await connectionFor(within), run),
    expireRuns: (request) => expireRuns(connection, request),
    upcoming: (request) => upcoming(connection, request),
    readRun: (runId) => readRun(connection, runId),
    readStatuses: (runIds, options) => readStatuses(connection, runIds, options),
    listRuns: (filter) => listRuns(connection, filter),
    countRuns: (request) => countRuns(connection, request),
    listWorkers: (request) => listWorkers(connection, request),
    listHeld: (request) => listHeld(connection, request),
    findEnded: (request) => findEnded(connection, request),
    prune: (request) => prune(connection, request),
    releaseKeys: (request) => releaseKeys(connection, request),
    diagnose: (request) => diagnose(connection, { ...request, adapter: parts.name, schema }),
    onWake: (listener) => wakeup.onWake(listener),
    wake: (definitionIds) => wakeup.wake(definitionIds),
    close() {
      closed ??= wakeup.close().then(() => parts.disconnect())
      return closed
    },
  }
}

/** Holds something while there are workers. */
class RegisteredWorkers {
  readonly #hold: () => (() => void) | undefined
  readonly #workerIds = new Set<string>()
  #letGo: (() => void) | undefined

  constructor(hold: () => (() => void) | undefined) {
    this.#hold = hold
  }

  add(workerId: string): void {
    this.#workerIds.add(workerId)
    this.#letGo ??= this.#hold()
  }

  delete(workerId: string): void {
    this.#workerIds.delete(workerId)
    if (this.#workerIds.size > 0) return
    this.#letGo?.()
    this.#letGo = undefined
  }
}
