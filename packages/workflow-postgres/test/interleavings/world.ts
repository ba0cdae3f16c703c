import { randomBytes, randomUUID } from 'node:crypto'
import { assertInvariants } from '@belay/testing'
import { createEngine, type RunHandle } from '@belay/workflow'
import {
  type Claim,
  type DrainedRun,
  isTerminal,
  type NewSignal,
  type Outcome,
  placeRows,
  type SavedDefinition,
  type UndoPlan,
} from '@belay/workflow/adapter'
import pg from 'pg'
import { expect } from 'vitest'
import { type PostgresAdapter, postgres } from '../../src/index.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { definitionOf } from '../setup/graphs.ts'
import { completed } from '../setup/outcomes.ts'
import { dumpStore } from './dump.ts'
import { Session } from './session.ts'
import { installStops, liveTables } from './stops.ts'

const LEASE_MS = 600_000

function wantsBoth(serverUrl: string): boolean {
  const orders = process.env['ORDERS']
  return orders === 'all' || (orders === 'both' && serverUrl === servers[0]!.url)
}

/** A store, two sessions on it that can be stopped, and a worker that prepares and finishes their runs. */
export class World {
  readonly store: PostgresAdapter
  readonly sessions: { readonly one: Session; readonly two: Session }
  /**
   * Whether both callers of a pair are stopped in one order. That takes ten times as long: ORDERS=both does it on one server, ORDERS=all on every
   * server.
   */
  readonly isThorough: boolean
  readonly #database: TestDatabase
  readonly #observer: pg.Client
  readonly #tables: readonly string[]
  readonly #saved = new Map<string, SavedDefinition>()
  /** Those of the current order. */
  #definitions = new Set<SavedDefinition>()
  #runIds: string[] = []
  #finisher = ''

  static async create(serverUrl: string, { isThorough = wantsBoth(serverUrl) } = {}): Promise<World> {
    const database = await createDatabase(serverUrl)
    // Detects a deadlock at once instead of after a second. Only superusers may set this; others wait.
    const { pathname } = new URL(database.url)
    await database.pool
      .query(`alter database ${pathname.slice(1)} set deadlock_timeout = '30ms'`)
      .catch(() => {})
    const schema = `belay_${randomBytes(6).toString('hex')}`
    const store = postgres(database.url, { schema, listen: false, autoMigrate: true })
    await store.open()
    await installStops(database.pool, schema)
    const tables = await liveTables(database.pool, schema)
    const observer = new pg.Client({ connectionString: database.url })
    await observer.connect()
    const session = (lock: number) => new Session({ url: database.url, schema, observer, lock })
    const sessions = { one: session(1), two: session(2) }
    const world = new World({ database, store, observer, sessions, isThorough, tables })
    await Promise.all([world.sessions.one.adapter.open(), world.sessions.two.adapter.open()])
    return world
  }

  private constructor(parts: {
    database: TestDatabase
    store: PostgresAdapter
    observer: pg.Client
    sessions: World['sessions']
    isThorough: boolean
    tables: readonly string[]
  }) {
    this.#tables = parts.tables
    this.isThorough = parts.isThorough
    this.store = parts.store
    this.sessions = parts.sessions
    this.#database = parts.database
    this.#observer = parts.observer
  }

  async close(): Promise<void> {
    const { one, two } = this.sessions
    await this.#observer.end()
    await Promise.all([this.store.close(), one.adapter.close(), two.adapter.close()])
    await this.#database.drop()
  }

  /** Empties the store except for its definitions, and registers the workers again. */
  async reset(): Promise<void> {
    const { one, two } = this.sessions
    await this.#observer.query('select pg_advisory_unlock_all()')
    await this.#observer.query(this.#tables.map((table) => `delete from ${table}`).join(';'))
    this.#runIds = []
    this.#definitions = new Set()
    this.#finisher = randomUUID()
    for (const workerId of [one.workerId, two.workerId, this.#finisher]) await this.register(workerId)
  }

  async register(workerId: string): Promise<void> {
    await this.store.registerWorker({ workerId, name: 'worker', leaseMs: LEASE_MS })
  }

  /** Lets the lease of a worker expire. */
  async expire({ workerId }: { readonly workerId: string }): Promise<void> {
    await this.sql(
      `update belay.workflow_workers set lease_expires_at = belay.store_now() - interval '1 second' where id = $1`,
      [workerId],
    )
  }

  /** Runs SQL on the store's tables. The SQL names them as in the default schema. */
  async sql<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<readonly Row[]> {
    const inSchema = text.replaceAll('belay.', `${this.store.schema}.`)
    const result = await (values.length === 0
      ? this.#observer.query<Row>(inSchema)
      : this.#observer.query<Row>(inSchema, [...values]))
    return result.rows
  }

  async definition(
    name: string,
    edges: Readonly<Record<string, readonly string[]>>,
    version = 1,
    kinds: Parameters<typeof definitionOf>[2] = {},
    facts: Parameters<typeof definitionOf>[3] = {},
  ): Promise<SavedDefinition> {
    const id = `${name} ${version}`
    const record = { ...definitionOf(name, edges, kinds, facts), version, checksum: id }
    const definition = this.#saved.get(id) ?? (await this.store.saveDefinitions([record]))[0]!
    this.#saved.set(id, definition)
    this.#definitions.add(definition)
    return definition
  }

  newRun({ id: definitionId, name: workflow }: SavedDefinition) {
    const runId = randomUUID()
    this.#runIds.push(runId)
    return { runId, definitionId, workflow, key: null, input: null }
  }

  async start(definition: SavedDefinition): Promise<string> {
    const run = this.newRun(definition)
    await this.store.startRuns([run])
    return run.runId
  }

  async claim(definition: SavedDefinition, workerId: string = this.#finisher): Promise<readonly Claim[]> {
    const claimed = await this.store.claim({ workerId, definitionIds: [definition.id], limit: 100 })
    return claimed === 'lost' ? expect.fail('The worker was lost.') : claimed.claims
  }

  async settle(outcomes: readonly Outcome[], workerId: string = this.#finisher): Promise<void> {
    const { results } = await this.store.settle({ workerId, outcomes, handBackMax: 0 })
    expect(results).toEqual(outcomes.map(() => 'settled'))
  }

  /** A drained run, whose only forward step has failed. */
  async drained(runId: string): Promise<DrainedRun> {
    const definitionIds = [...this.#definitions].map(({ id }) => id)
    const [drained] = await this.store.drain({ definitionIds, runIds: [runId], limit: 1 })
    return drained ?? expect.fail(`Run ${runId} is not drained.`)
  }

  /** An operator's handle on a run, through the caller's session. */
  operate(runId: string, { adapter }: Session): RunHandle {
    return createEngine({ adapter }).runs.handle(runId)
  }

  signal({ id: definitionId }: SavedDefinition, runId: string, step: number, key = 'signal'): NewSignal {
    return { runId, definitionId, step, key, actor: null, payload: JSON.stringify(key) }
  }

  async read(runId: string) {
    return (await this.store.readRun(runId)) ?? expect.fail(`Run ${runId} is gone.`)
  }

  async step(runId: string, name: string) {
    return (await this.read(runId)).steps.find((step) => step.name === name)!
  }

  async assertInvariants(): Promise<void> {
    assertInvariants(await dumpStore(this, [...this.#definitions], this.#runIds))
  }

  /** Does the work of workers and senders until every run has ended. */
  async finish(): Promise<void> {
    for (let round = 0; round < 30; round += 1) {
      const open = await this.#openRuns()
      if (open.length === 0) return this.#assertRest()
      for (const { runId, status, definitionId } of open) {
        if (status === 'paused') await this.operate(runId, this.sessions.one).resume()
        if (status === 'compensating') await this.#beginUndo(runId)
        await this.#sendLate(runId, definitionId)
      }
      await this.store.sweep({ limit: 100 })
      for (const { id } of this.#definitions) {
        await this.store.claim({ workerId: this.#finisher, definitionIds: [id], limit: 100 })
      }
      await this.#settleAll()
      // An undo that another session has queued lies behind the mark of a claim whose look was slow: it is found once the marks have rested.
      // biome-ignore lint/style/noRestrictedGlobals: marks rest in real time, ten times as long as a slow look took.
      if (round >= 5) await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const rows = await this.sql('select * from belay.workflow_steps order by run_id, step')
    expect.fail(
      `Nothing ends these runs:\n${JSON.stringify(await this.#openRuns())}\n${JSON.stringify(rows)}`,
    )
  }

  async #openRuns() {
    const read = await Promise.all(this.#runIds.map((runId) => this.store.readRun(runId)))
    return read.flatMap((found) => (found === null || isTerminal(found.run.status) ? [] : [found.run]))
  }

  async #beginUndo(runId: string): Promise<void> {
    const definitionIds = [...this.#definitions].map(({ id }) => id)
    const drained = await this.store.drain({ definitionIds, runIds: [runId], limit: 1 })
    await this.store.beginUndo(drained.map((run) => this.planUndo(run)))
  }

  /** Plans the undo of all completed steps, each after the steps that depend on it. */
  planUndo({ runId, definitionId, fences, stop, steps }: DrainedRun): UndoPlan {
    const { shape: own } = [...this.#definitions].find(({ id }) => id === definitionId)!
    const placed = placeRows(own, steps)
    const { shape, numbers } = placed ?? { shape: own, numbers: own.steps.map((_, number) => number) }
    const completed = new Set(steps.filter(({ status }) => status === 'completed').map(({ step }) => step))
    const owed = numbers.flatMap((number, place) => (completed.has(number) ? [place] : []))
    const undos = owed.map((place) => ({
      step: numbers[place]!,
      openDependents: owed.filter((other) => shape.steps[other]!.dependsOn.includes(place)).length,
    }))
    const failed = undos.length === 0 ? 'failed' : 'compensated'
    return { runId, fences, endsAs: stop === 'failure' ? failed : 'cancelled', undos }
  }

  /** Sends a signal to each step that waits for one. If an earlier signal was lost, the step's output at the end shows it. */
  async #sendLate(runId: string, definitionId: number): Promise<void> {
    const { steps } = await this.read(runId)
    const waiting = steps.filter(({ status, availableAt }) => status === 'waiting' && availableAt === null)
    const definition = [...this.#definitions].find(({ id }) => id === definitionId)!
    await this.store.deliverSignals(waiting.map(({ step }) => this.signal(definition, runId, step, 'late')))
  }

  /** Settles all leased steps: a caller's last call may have leased some. */
  async #settleAll(): Promise<void> {
    const { one, two } = this.sessions
    for (const workerId of [one.workerId, two.workerId, this.#finisher]) {
      const claims = await this.store.held({ workerId })
      const outcomes = await Promise.all(claims.map((claim) => this.#outcomeOf(claim)))
      if (outcomes.length > 0) await this.settle(outcomes, workerId)
    }
  }

  async #outcomeOf(claim: Claim): Promise<Outcome> {
    const { shape } = [...this.#definitions].find(({ id }) => id === claim.definitionId)!
    const joins = shape.steps[claim.step]?.kind === 'join'
    if (claim.direction === 'undo')
      return joins
        ? { ...claim, type: 'relayed', undoOf: claim.undoOf!, joins }
        : { ...claim, type: 'compensated' }
    const { steps } = await this.read(claim.runId)
    return steps.find(({ step }) => step === claim.step)!.signalledAt === null
      ? completed(claim)
      : { ...claim, type: 'received' }
  }

  /** Asserts that nothing is leased, and that a claim would find nothing in the queue. */
  async #assertRest(): Promise<void> {
    const leased = await this.sql(
      `select run_id, step, worker_id from belay.workflow_steps where status in ('running', 'compensating')`,
    )
    expect(leased).toEqual([])
    for (const { id } of this.#definitions) {
      const claimed = await this.store.claim({ workerId: this.#finisher, definitionIds: [id], limit: 100 })
      expect(claimed).toMatchObject({ claims: [] })
    }
  }
}
