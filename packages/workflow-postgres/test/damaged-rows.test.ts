import { randomUUID } from 'node:crypto'
import { createEngine, define, type Engine } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const WITHIN = { timeout: 30_000 }
const OTHERS = 20
const INT_MAX = 2_147_483_647

const plain = define('plain', { version: 1 })
  .step('one', { run: () => 1, compensate: () => {} })
  .waitForSignal('go', { dependsOn: ['one'] })
  .step('two', {
    dependsOn: ['go'],
    retry: false,
    run: ({ deps }) => {
      if (deps.go === 'fail') throw new Error('fails')
      return 2
    },
  })
const mapped = define('mapped', { version: 1 })
  .map('items', { over: () => Array.from({ length: 200 }, (_, item) => item), run: ({ item }) => item })
  .step('sum', { dependsOn: ['items'], run: ({ deps }) => deps.items.length })
const limited = define('limited', { version: 1 }).step('one', {
  concurrency: { name: 'few', limit: 2, key: ({ input }) => (input as { readonly of: string }).of },
  run: () => 1,
})

// As after a bad restore, or a change by hand.
describe.each(servers)('a row that is damaged, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const opened = async () => {
    const schema = `belay_${randomUUID().replaceAll('-', '')}`
    const adapter = await createStore(database, { schema })
    const workflows = [plain, mapped, limited]
    const client = createEngine({ adapter, workflows })
    const work = async () => {
      const engine = createEngine({ adapter, workflows, tick: '20ms', lease: '1s' })
      onTestFinished(() => engine.close({ timeout: 0 }))
      await engine.start()
      return engine
    }
    const damage = (statement: string, values: readonly unknown[] = []) =>
      database.pool.query(statement.replaceAll('belay.', `${schema}.`), [...values])
    return { adapter, client, work, damage }
  }

  it('a stopped run without one of its steps is left as it is, and named; all others are undone', async () => {
    const { client, work, damage } = await opened()
    const engine = await work()
    const { bad, others } = await started(client)
    await allAt(engine, 'go', others.length + 1)
    await damage('delete from belay.workflow_steps where run_id = $1 and step = 0', [bad.id])

    await Promise.all([bad, ...others].map((run) => run.signal('go', 'fail')))

    await expect.poll(() => count(engine, 'compensated'), WITHIN).toBe(OTHERS)
    await named(engine, {
      runId: bad.id,
      message: expect.stringMatching(/has rows of the steps 1, 2, but its workflow has the steps 0 to 2/),
    })
  })

  it('a step whose fence cannot grow is not claimed, and named; those behind it are', async () => {
    const { client, work, damage } = await opened()
    const { bad, others } = await started(client)
    await damage(`update belay.workflow_steps set fence = ${INT_MAX} where run_id = $1 and step = 0`, [
      bad.id,
    ])
    await damage(`update belay.workflow_ready set fence = ${INT_MAX} where run_id = $1`, [bad.id])

    const engine = await work()
    await Promise.all(others.map((run) => run.signal('go', 1)))

    await expect.poll(() => count(engine, 'completed'), WITHIN).toBe(OTHERS)
    await named(engine, {
      runId: bad.id,
      during: 'claiming',
      message: expect.stringMatching(/integer out of range/),
    })
  })

  it('a step whose losses cannot grow stays with its dead worker, and is named; the others of that worker go on', async () => {
    const { adapter, client, work, damage } = await opened()
    const { bad, others } = await started(client)
    const definitionIds = (await adapter.saveDefinitions([plain.record])).map(({ id }) => id)
    const workerId = randomUUID()
    await adapter.registerWorker({ workerId, name: 'dies', leaseMs: 1 })
    await adapter.claim({ workerId, definitionIds, limit: 100 })
    await damage(`update belay.workflow_steps set losses = ${INT_MAX} where run_id = $1 and step = 0`, [
      bad.id,
    ])

    const engine = await work()
    await Promise.all(others.map((run) => run.signal('go', 1)))

    await expect.poll(() => count(engine, 'completed'), WITHIN).toBe(OTHERS)
    await named(engine, { runId: bad.id, message: expect.stringMatching(/integer out of range/) })
  })

  it.each(['infinity', '-infinity'])('a deadline of %s keeps no other deadline from passing', async (at) => {
    const { client, work, damage } = await opened()
    const { bad, others } = await started(client, { deadline: '1h' })
    const engine = await work()
    await damage('update belay.workflow_runs set deadline_at = $2 where id = $1', [bad.id, at])
    await damage(`update belay.workflow_runs set deadline_at = now() + interval '1 second' where id <> $1`, [
      bad.id,
    ])

    await expect
      .poll(
        async () => (await Promise.all(others.map((run) => run.status()))).map(({ status }) => status),
        WITHIN,
      )
      .toEqual(others.map(() => 'compensated'))
    expect((await engine.runs.list()).length).toBe(OTHERS + 1)
  })

  it('a row of a step that the workflow does not have is not executed, and named; all others go on', async () => {
    const { client, work, damage } = await opened()
    const { bad, others } = await started(client)
    await damage(
      `insert into belay.workflow_steps select (jsonb_populate_record(s, '{"step": 7}')).* from belay.workflow_steps s where run_id = $1 and step = 0`,
      [bad.id],
    )
    await damage('update belay.workflow_ready set step = 7 where run_id = $1', [bad.id])

    const engine = await work()
    await Promise.all(others.map((run) => run.signal('go', 1)))

    await expect.poll(() => count(engine, 'completed'), WITHIN).toBe(OTHERS)
    await named(engine, { runId: bad.id, name: 'row 7 of its steps' })
  })

  it('a hint of two thousand million items takes no room from other items', async () => {
    const { client, work, damage } = await opened()
    const bad = await client.run(mapped)
    await damage(
      `insert into belay.workflow_ready_items (available_at, definition_id, step, items, fence, run_id)
       select now() - interval '1 day', definition_id, 65536, 2000000000, 0, id from belay.workflow_runs, generate_series(1, 3) where id = $1`,
      [bad.id],
    )
    const engine = await work()
    const runs = await engine.runMany(mapped, [{}, {}])

    expect(await Promise.all([bad, ...runs].map((run) => run.result()))).toEqual(
      [1, 2, 3].map(() => expect.objectContaining({ sum: 200 })),
    )
    const { rows } = await damage('select * from belay.workflow_ready_items')
    expect(rows).toEqual([])
  })

  it('a key of a limit whose counter cannot grow holds up no other key', async () => {
    const { work, damage } = await opened()
    await damage(
      `insert into belay.workflow_limit_keys (turn, limit_name, key) values (9223372036854775807, 'few', 'bad')`,
    )
    const engine = await work()
    const bad = await engine.run(limited, { of: 'bad' })
    const others = await engine.runMany(
      limited,
      Array.from({ length: OTHERS }, (_, n) => ({ input: { of: `good ${n % 3}` } })),
    )

    expect(await Promise.all(others.map((run) => run.result()))).toHaveLength(OTHERS)
    await named(engine, { runId: bad.id, message: expect.stringMatching(/bigint out of range/) })
  })
})

async function started(engine: Engine, options: { readonly deadline?: string } = {}) {
  const runs = await engine.runMany(
    plain,
    Array.from({ length: OTHERS + 1 }, () => options as { readonly deadline?: '1h' }),
  )
  return { bad: runs[OTHERS / 2]!, others: runs.filter((_, at) => at !== OTHERS / 2) }
}

async function count(engine: Engine, status: 'completed' | 'compensated'): Promise<number> {
  return (await engine.runs.count({ status })).count
}

/** Until so many runs wait. */
async function allAt(engine: Engine, _step: string, runs: number): Promise<void> {
  await expect.poll(async () => (await engine.runs.count({ status: 'waiting' })).count, WITHIN).toBe(runs)
}

/** Until the doctor tells of it. */
async function named(engine: Engine, finding: object): Promise<void> {
  await expect
    .poll(async () => (await engine.doctor()).findings, WITHIN)
    .toContainEqual(expect.objectContaining({ type: 'refused_by_store', ...finding }))
}
