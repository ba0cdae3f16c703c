import { createEngine, define, type Engine, unchecked } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

// Runs that move to another version, against what names their steps, on real connections. What is checked is what senders were told.
const RUNS = 400
const AT_ONCE = 20

const go = { schema: unchecked<number>() }

const one = define('moved', { version: 1 })
  .waitForSignal('go', go)
  .waitForSignal('later', { dependsOn: ['go'], ...go })

/** The steps of version 1 under other numbers: "go" and "later" come after steps that the run did not have. */
const two = define('moved', { version: 2 })
  .step('new', { run: () => 'new' })
  .step('newer', { dependsOn: ['new'], run: () => 'newer' })
  .waitForSignal('go', go)
  .waitForSignal('later', { dependsOn: ['go', 'newer'], ...go })

describe.each(servers)('runs that move to another version on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  let sender: Engine
  let operator: Engine

  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
    ;[sender, operator] = [engineOf(), engineOf()]
  })
  afterAll(async () => {
    await Promise.all([sender.close(), operator.close()])
    await database.drop()
  })

  /** An engine with a pool of its own, as another process has it. */
  function engineOf(): Engine {
    const adapter = postgres(database.url, { schema: store.schema, listen: false, connectionsMax: AT_ONCE })
    return createEngine({ adapter, workflows: [one, two] })
  }

  /** Runs of version 1 whose first step waits for its signal, and whose second will. */
  async function waitingRuns(count: number): Promise<readonly string[]> {
    const worker = engineOf()
    await worker.start()
    const runs = await worker.runMany(
      one,
      Array.from({ length: count }, () => ({})),
    )
    const ids = runs.map(({ id }) => id)
    await expect.poll(() => stepsThatWait(ids), { timeout: 30_000 }).toBe(count)
    await worker.close()
    return ids
  }

  async function stepsThatWait(ids: readonly string[]): Promise<number> {
    const { rows } = await database.pool.query<{ waiting: number }>(
      `select count(*)::int as waiting from ${store.schema}.workflow_steps where run_id = any ($1) and status = 'waiting'`,
      [ids],
    )
    return rows[0]!.waiting
  }

  /** Now, or some calls later: who comes first changes with the round, and often nobody knows. */
  async function about(engine: Engine, round: number): Promise<void> {
    for (let pause = round % 4; pause > 0; pause -= 1) await engine.runs.list({ limit: 1 })
  }

  const inTurns = async (ids: readonly string[], act: (id: string, round: number) => Promise<void>) => {
    for (let first = 0; first < ids.length; first += AT_ONCE) {
      const group = ids.slice(first, first + AT_ONCE)
      await Promise.all(group.map((id, n) => act(id, first + n)))
    }
  }

  it('every signal that was acknowledged is found by its step, and no run waits for ever', async () => {
    const ids = await waitingRuns(RUNS)
    const told: string[] = []

    await inTurns(ids, async (id, round) => {
      const [moved, ...receipts] = await Promise.all([
        operator.migrateRun(id, two),
        about(sender, round).then(() => sender.signal(id, 'go', round, { key: 'go' })),
        about(sender, round + 1).then(() => sender.signal(id, 'later', round, { key: 'later' })),
      ])
      expect(moved).toBe(true)
      told.push(...receipts.map(({ result }) => result))
    })

    expect(told.filter((result) => result !== 'delivered' && result !== 'kept')).toEqual([])
    const { rows } = await database.pool.query(
      `select s.name, s.signalled_at is not null as signalled, count(*)::int as signals
       from ${store.schema}.workflow_signals g
       join ${store.schema}.workflow_step_overview s on s.run_id = g.run_id and s.step = g.step
       where g.run_id = any ($1) and s.name = g.key group by 1, 2 order by 1`,
      [ids],
    )
    expect(rows).toEqual([
      { name: 'go', signalled: true, signals: RUNS },
      { name: 'later', signalled: true, signals: RUNS },
    ])
    const worker = engineOf()
    await worker.start()
    await inTurns(ids, async (id, round) => {
      const result = await worker.runs.handle(id).result()
      expect(result).toEqual({ new: 'new', newer: 'newer', go: round, later: round })
    })
    await worker.close()
  })

  it('the history of a run that moves meanwhile names the step that each signal was for', async () => {
    const ids = await waitingRuns(60)

    await inTurns(ids, async (id, round) => {
      await sender.signal(id, 'later', round, { key: 'k' })
      const [, history] = await Promise.all([
        operator.migrateRun(id, two),
        about(sender, round).then(() => sender.runs.history(id)),
      ])
      const signals = history.filter(({ action }) => action === 'signal')
      expect(signals).toMatchObject([{ step: 'later', key: 'k', change: round }])
    })
  })
})
