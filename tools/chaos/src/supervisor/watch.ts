import { CONNECTIONS_MAX, POOL_MAX, QUERY_TIMEOUT_MS, TRANSACTIONS_MAX } from '../child/protocol.ts'
import { COUNTED, type Counted, featuresMet } from '../load/features.ts'
import { BackendWatch } from '../oracle/backend-watch.ts'
import { type Lease, LeaseWatch } from '../oracle/lease-watch.ts'
import type { Violation } from '../oracle/violation.ts'
import { pause } from '../pause.ts'
import type { Recoveries } from './recoveries.ts'
import type { Seat } from './seat.ts'
import type { Stage } from './stage.ts'

const LOOK_MS = 250
/** Workers speak every 200 ms, and the supervisor looks every 250 ms. */
const STARVED_MS = 1_000
const FEATURES_MS = 4_000
const RECOVERY_LOOK_MS = 100
/** One more backend for this long is normal: a process replaces a connection. */
const BACKENDS_MS = 3_000
/** How long after a fault everything counts as calm again: clients notice it, wait and try again. */
const AFTERMATH_MS = 2_000

/** Watches the database during the load, and tells the trigger how many runs are open. */
export class Watch {
  /** Runs that had not ended at the last look. */
  open = 0
  ended = 0
  /** How often each feature was met until the last look at it. */
  features: Readonly<Record<string, number>> = {}
  #featuresAt = -Infinity
  readonly #stage: Stage
  readonly #recoveries: Recoveries
  readonly #leases: LeaseWatch
  readonly #backends = new BackendWatch(BACKENDS_MS)
  readonly #lastTrouble = new Map<string, number>()
  #lookedAt = performance.now()
  #isOver = false
  #looking: Promise<unknown> | undefined
  #finish = false

  constructor(stage: Stage, recoveries: Recoveries) {
    this.#stage = stage
    this.#recoveries = recoveries
    // If a step's COMMIT gets no answer, the engine checks it after the statement's limit.
    this.#leases = new LeaseWatch(3 * stage.leaseMs + QUERY_TIMEOUT_MS)
  }

  start(): void {
    this.#looking = Promise.all([this.#lookAround(), this.#lookForRecoveries()])
  }

  /** No new runs from now on. */
  finish(): void {
    this.#finish = true
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#looking
  }

  get violations(): readonly Violation[] {
    return [...this.#leases.violations, ...this.#backends.violations]
  }

  async #lookForRecoveries(): Promise<void> {
    while (!this.#isOver) {
      await this.#recoveries.look(this.#stage.database, this.#stage.fleet.settled)
      await pause(RECOVERY_LOOK_MS)
    }
  }

  async #lookAround(): Promise<void> {
    while (!this.#isOver) {
      this.#noteTrouble()
      await this.#lookAtFeatures()
      try {
        await this.#look()
      } catch {
        // The server is away, or its tables are locked: nothing was seen, so the time starts again.
        this.#lookedAt = performance.now()
      }
      this.#pace()
      await pause(LOOK_MS)
    }
  }

  /** Rarely: it reads all that the world knows. */
  async #lookAtFeatures(): Promise<void> {
    if (performance.now() - this.#featuresAt < FEATURES_MS) return
    this.#featuresAt = performance.now()
    const { rows } = await this.#stage.world.query<Counted>(COUNTED)
    this.features = featuresMet(rows)
  }

  async #look(): Promise<void> {
    const { database } = this.#stage
    const [leases, backends, runs] = [
      await database.query<Lease>(LEASES),
      await database.query<{ name: string; count: number }>(BACKENDS),
      await database.query<{ open: number; all: number }>(RUNS),
    ]
    this.#noteTrouble()
    const now = performance.now()
    const elapsedMs = now - this.#lookedAt
    this.#lookedAt = now
    // A machine that has no time for the supervisor has none for the workers either.
    const sinceMs = elapsedMs > STARVED_MS ? 0 : elapsedMs
    this.open = runs.rows[0]!.open
    this.ended = runs.rows[0]!.all - this.open
    const seats = new Map(this.#stage.fleet.seats.map((seat) => [seat.child?.name, seat]))
    const none: ReadonlySet<string> = new Set()
    this.#leases.look(leases.rows, {
      worksOn: (worker) => seats.get(worker)?.active ?? none,
      // A process that is gone is swept in its own time. If that never happens, its runs do not end, which shows.
      isCalm: (worker) => this.#isAwake(seats.get(worker)) && this.#isCalm('all'),
      sinceMs,
    })
    this.#backends.look(new Map(backends.rows.map(({ name, count }) => [name, count])), {
      told: (process) => toldOf(seats.get(process)),
      isCalm: (process) => this.#isCalm(`${seats.get(process)?.name} network`) && this.#isCalm('server'),
      sinceMs,
    })
  }

  /** Notes which processes have a fault now. */
  #noteTrouble(): void {
    const { fleet, troubles } = this.#stage
    const now = performance.now()
    if (troubles.size > 0) this.#lastTrouble.set('all', now)
    if ([...troubles].some((name) => name.startsWith('server'))) this.#lastTrouble.set('server', now)
    for (const { name, troubles: own, child } of fleet.seats) {
      if (own.size > 0 || child?.isReady !== true) this.#lastTrouble.set(name, now)
      if (own.has('network') || own.has('frozen')) this.#lastTrouble.set(`${name} network`, now)
    }
  }

  /** Without a fault of its own, and with time to run: it has said lately what it does. */
  #isAwake(seat: Seat | undefined): boolean {
    return seat !== undefined && this.#isCalm(seat.name) && performance.now() - seat.heardAt < STARVED_MS
  }

  #isCalm(whom: string): boolean {
    const at = this.#lastTrouble.get(whom)
    return at === undefined || performance.now() - at > AFTERMATH_MS
  }

  #pace(): void {
    const { fleet } = this.#stage
    const version = fleet.workers.some((seat) => seat.version === 'both') ? 'both' : 'v1'
    fleet.trigger.child?.tell({ type: 'pace', open: this.open, version, finish: this.#finish })
  }
}

function toldOf(seat: Seat | undefined): number | undefined {
  if (seat === undefined) return undefined
  return seat.pool === 'application' ? POOL_MAX : CONNECTIONS_MAX + TRANSACTIONS_MAX
}

const LEASES = `
select s.run_id as "runId", case when s.item_key is null then ds.name else left(ds.name, -1) || s.item_key || ']' end as step, s.fence,
  w.name as worker
from belay.workflow_runs r
join belay.workflow_steps s on s.run_id = r.id
join belay.workflow_definition_steps ds on ds.definition_id = r.definition_id 
  and ds.step = case when s.step < 65536 then s.step else (s.step >> 16) - 1 end
join belay.workflow_workers w on w.id = s.worker_id
where r.finished_at is null and s.status in ('running', 'compensating') and w.lease_expires_at > now()`

const BACKENDS = `
select application_name as name, count(*)::integer as count from pg_stat_activity
where backend_type = 'client backend' group by application_name`

const RUNS = `select count(*) filter (where finished_at is null)::integer as open, count(*)::integer as all from belay.workflow_runs`
