import type { Adapter, SubmittedWork, TransactRequest } from '@belay/workflow/adapter'
import { claim } from './claim/claim.ts'
import { ClaimPace } from './claim/claim-once.ts'
import { changeRun } from './control/change-run.ts'
import { changeWithin } from './control/change-within.ts'
import { readHistory } from './control/read-history.ts'
import { EndMarks } from './ends/end-marks.ts'
import { findRunEnds, forgetRunEnds } from './ends/run-ends.ts'
import { wakeParents } from './ends/wake-parents.ts'
import { limitVerbs } from './limits/limit-verbs.ts'
import type { MigrationReport, MigrationSettings } from './migrate/migrate.ts'
import type { MigrationPlan } from './migrate/plan.ts'
import { OpenStore, type SqlAdapterParts } from './open-store.ts'
import { countReady } from './read/count-ready.ts'
import { countRuns } from './read/count-runs.ts'
import { findRun } from './read/find-run.ts'
import { listDefinitions } from './read/list-definitions.ts'
import { listRuns } from './read/list-runs.ts'
import { load } from './read/read-payloads.ts'
import { readResults } from './read/read-results.ts'
import { readRun } from './read/read-runs.ts'
import { findEnded } from './retention/find-ended.ts'
import { prune } from './retention/prune-runs.ts'
import { releaseKeys } from './retention/release-keys.ts'
import { readAttempts } from './rows/kept-attempts.ts'
import { leadsOfRun } from './rows/queue-place.ts'
import { findDefinition, readDefinitions } from './rows/read-definitions.ts'
import { changeSchedules } from './schedules/change-schedules.ts'
import { readFirings, readSchedules } from './schedules/read-schedules.ts'
import { free } from './settle/free-limits.ts'
import { recorded } from './settle/read-attempts.ts'
import { settle } from './settle/settle.ts'
import { deliverSignals } from './signals/deliver-signals.ts'
import { findApprovals } from './signals/find-approvals.ts'
import { collectCalls, collectWithin } from './start/collect-calls.ts'
import { readCollected } from './start/read-collections.ts'
import { saveDefinitions } from './start/save-definitions.ts'
import { saveWithin } from './start/save-within.ts'
import { startLimited } from './start/start-limited.ts'
import { startWithin } from './start/start-within.ts'
import { beginUndo } from './undo/begin-undo.ts'
import { cancelRuns } from './undo/cancel-runs.ts'
import { drain } from './undo/drain-runs.ts'
import { expireRuns, upcoming } from './undo/expire-runs.ts'
import { publish } from './values/publish-values.ts'
import { observeRuns, readValues } from './values/read-values.ts'
import { diagnose } from './workers/diagnose.ts'
import { heldAndTrimmed } from './workers/held.ts'
import { listHeld } from './workers/list-held.ts'
import { listWorkers } from './workers/list-workers.ts'
import { placeLateSteps } from './workers/place-late-steps.ts'
import { now, readStatuses, stopping } from './workers/read-state.ts'
import { RegisteredWorkers } from './workers/registered-workers.ts'
import { deregister, register, renew } from './workers/registration.ts'
import { sweep } from './workers/sweep-workers.ts'

/** What the two adapters of this package share: everything except how they connect. */
export interface SqlAdapter extends Adapter, AsyncDisposable {
  readonly schema: string
  /** Brings the schema up to this version of Belay. Safe when any number of processes call it at once. */
  migrate(settings?: MigrationSettings): Promise<MigrationReport>
  /** Tells what `migrate` would do, and writes nothing. */
  planMigration(): Promise<MigrationPlan>
}

/** The verbs of the port over a connection. Each verb is one statement, or its comment says why it is not. */
export function sqlAdapter(parts: SqlAdapterParts): SqlAdapter {
  const store = new OpenStore(parts)
  return {
    ...connectionVerbs(store),
    ...startVerbs(store),
    ...workerVerbs(store),
    ...attemptVerbs(store),
    ...stopVerbs(store),
    ...operatorVerbs(store),
    ...scheduleVerbs(store),
    ...readingVerbs(store),
    ...limitVerbs(store.connection),
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
    allowMigrations: () => store.allowMigrations(),
    migrate: (settings) => store.migrate(settings),
    planMigration: () => store.planMigration(),
    onWake: (listener) => wakeup.onWake(listener),
    wake: (definitionIds) => wakeup.wake(definitionIds),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
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
        const leasing = lease === undefined ? {} : { leasing: { lease, journal } }
        const started = await startLimited(connection, runs, leasing)
        store.placedBehind(runs.flatMap(leadsOfRun))
        return started
      }
      const transaction = await store.connectionFor(within)
      return startWithin({ transaction, beside, wakeup }, runs)
    },
    async collectCalls(calls, within) {
      if (within?.tx === undefined) return collectCalls(connection, calls)
      return collectWithin({ transaction: await store.connectionFor(within), beside, wakeup }, calls)
    },
    readCollected: (runId) => readCollected(connection, runId),
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
    async sweep(request) {
      const placed = await placeLateSteps(connection, store.marks.lateMarks)
      const swept = await sweep(connection, request)
      if (placed > 0 || swept.recovered.length > 0) store.placedBehind('any')
      return swept
    },
    listWorkers: (request) => listWorkers(connection, request),
    listHeld: (request) => listHeld(connection, request),
  } satisfies Partial<SqlAdapter>
}

function attemptVerbs(store: OpenStore) {
  const { connection, journal } = store
  const memory = { ...store.marks, mapped: new Map<number, boolean>(), journal, pace: new ClaimPace() }
  return {
    claim: (request) => claim(connection, request, memory),
    held: (request) => heldAndTrimmed(connection, request, journal),
    async settle(request) {
      const { moment } = journal
      const settlement = await settle(connection, request)
      journal.ended(request.workerId, settlement.runs, moment)
      // A retry of an undo is placed later, and what follows from an undo at once.
      if (request.outcomes.some(({ direction }) => direction === 'undo')) store.placedBehind('undos')
      return settlement
    },
    async transact(request) {
      store.throwIfClosed()
      const { moment } = journal
      let submitted: SubmittedWork | null = null
      const work: TransactRequest['work'] = async (tx) => {
        submitted = await request.work(tx)
        return submitted
      }
      const transacted = await store.parts.transact({ ...request, work })
      if (transacted.type !== 'settled') return transacted
      journal.ended(request.workerId, transacted.settlement.runs, moment)
      const given = await free(connection, (submitted as SubmittedWork | null)?.frees)
      return given ? { ...transacted, settlement: { ...transacted.settlement, queued: true } } : transacted
    },
    recorded: (request) => recorded(connection, request),
    load: (requests) => load(connection, requests),
    publish: (request) => publish(connection, request),
  } satisfies Partial<SqlAdapter>
}

function stopVerbs(store: OpenStore) {
  const { connection, journal } = store
  return {
    stopping: (request) => stopping(connection, request),
    drain: (request) => drain(connection, request),
    async beginUndo(plans, lease) {
      const begun = await beginUndo(connection, plans, lease, journal)
      if (begun.length > 0) store.placedBehind('undos')
      return begun
    },
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
      if (within?.tx === undefined) {
        const answer = await changeRun(connection, request)
        store.placedBehind('any')
        return answer
      }
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

function scheduleVerbs(store: OpenStore) {
  const { connection } = store
  const { wakeup } = store.parts
  return {
    async changeSchedules(request, within) {
      if (within?.tx === undefined) return changeSchedules(connection, request)
      const transaction = await store.connectionFor(within)
      let isChanged = false
      const decide: typeof request.decide = (found) => {
        const decision = request.decide(found)
        isChanged ||= decision.change !== null
        return decision
      }
      const changed = await changeSchedules(transaction, { ...request, decide })
      if (isChanged) await wakeup.wakeAfter?.(transaction)
      return changed
    },
    readSchedules: (filter) => readSchedules(connection, filter),
    readFirings: (request) => readFirings(connection, request),
  } satisfies Partial<SqlAdapter>
}

function readingVerbs(store: OpenStore) {
  const { connection } = store
  return {
    findRun: async (run, within) => findRun(await store.connectionFor(within), run),
    readRun: (runId, items) => readRun(connection, runId, items),
    readResults: (runIds) => readResults(connection, runIds),
    readValues: (runId) => readValues(connection, runId),
    observeRuns: (runIds) => observeRuns(connection, runIds),
    readStatuses: (runIds, options) => readStatuses(connection, runIds, options),
    listDefinitions: (request) => listDefinitions(connection, request),
    listRuns: (filter) => listRuns(connection, filter),
    countReady: (request) => countReady(connection, request),
    countRuns: (request) => countRuns(connection, request),
  } satisfies Partial<SqlAdapter>
}

function upkeepVerbs({ connection, parts: { name, schema } }: OpenStore) {
  const endMarks = new EndMarks()
  return {
    findRunEnds: (request) => findRunEnds(connection, request, endMarks),
    wakeParents: (childIds) => wakeParents(connection, childIds),
    forgetRunEnds: (ends) => forgetRunEnds(connection, ends),
    findEnded: (request) => findEnded(connection, request),
    prune: (request) => prune(connection, request),
    releaseKeys: (request) => releaseKeys(connection, request),
    diagnose: (request) => diagnose(connection, { ...request, adapter: name, schema }),
  } satisfies Partial<SqlAdapter>
}
