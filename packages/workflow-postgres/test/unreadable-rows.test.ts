import { randomUUID } from 'node:crypto'
import { createEngine, define, type Engine } from '@belay/workflow'
import { type Adapter, StoreUnavailableError } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { tearValue } from './setup/damaging-rows.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const WITHIN = { timeout: 30_000 }
const OTHERS = 20

const plain = define('plain', { version: 1 }).step('one', { run: () => 1 })
const hanging = define('hanging', { version: 1 }).step('hang', {
  run: ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
})

// As after a lost sector, a bad restore, or a change by hand.
describe.each(servers)('a row that cannot be read or changed, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const opened = async () => {
    const schema = `belay_${randomUUID().replaceAll('-', '')}`
    const store = await createStore(database, { schema })
    const engine = (options: Partial<Parameters<typeof createEngine>[0]> = {}) => {
      const workflows = [plain, hanging]
      const made = createEngine({ adapter: store, workflows, tick: '20ms', lease: '1s', ...options })
      onTestFinished(() => made.close({ timeout: 0 }))
      return made
    }
    const damage = (statement: string, values: readonly unknown[] = []) =>
      database.pool.query(statement.replaceAll('belay.', `${schema}.`), [...values])
    const tear = (table: string, column: string, runId: string) =>
      tearValue(database.pool, { schema, table, column, runId })
    return { store, engine, damage, tear }
  }

  it('steps of a lost answer are found although the database cannot read one of them', async () => {
    const { store, engine, tear } = await opened()
    const { bad } = await started(engine())
    let isLost = false
    const adapter = changed(store, {
      async claim(request) {
        const answer = await store.claim(request)
        if (isLost || answer === 'lost' || answer.claims.length === 0) return answer
        isLost = true
        expect(answer.claims).toHaveLength(OTHERS + 1)
        await tear('workflow_steps', 'undo_of', bad.id)
        throw new StoreUnavailableError('the answer was lost')
      },
    })
    const worker = engine({ adapter, concurrency: 50 })
    await worker.start()

    await expect
      .poll(async () => (await worker.runs.count({ status: 'completed' })).count, WITHIN)
      .toBe(OTHERS)
    expect(isLost).toBe(true)
    await named(worker, { runId: bad.id, during: 'comparing leases', message: LOST_VALUE })
  })

  it('a handler of a run of which the database cannot read a step goes on', async () => {
    const { engine, tear } = await opened()
    const worker = engine()
    const lost: unknown[] = []
    worker.on('step.discarded', (event) => lost.push(event))
    await worker.start()
    const bad = await worker.run(hanging)
    await expect.poll(async () => (await bad.status()).steps[0]?.status, WITHIN).toBe('running')
    await tear('workflow_steps', 'undo_of', bad.id)
    await named(worker, { runId: bad.id, during: 'comparing leases' })
    const began = performance.now()

    // Longer than two comparisons take: each lease has one.
    await expect.poll(() => performance.now() - began, WITHIN).toBeGreaterThan(3_000)

    expect(lost).toEqual([])
  })

  it('one run of which the database cannot tell whether it was stopped keeps no other handler from its signal', async () => {
    const { store, engine } = await opened()
    const refused = new Set<string>()
    const adapter = changed(store, {
      stopping: ({ runIds }) =>
        runIds.some((runId) => refused.has(runId))
          ? Promise.reject(Object.assign(new Error('invalid page in block 7'), { code: 'XX001' }))
          : store.stopping({ runIds }),
    })
    const worker = engine({ adapter })
    await worker.start()
    const [bad, other] = await worker.runMany(hanging, [{}, {}])
    refused.add(bad!.id)

    // By another process, so that only the housekeeping notices it.
    await engine().runs.handle(other!.id).cancel()

    await expect.poll(async () => (await other!.status()).status, WITHIN).toBe('cancelled')
    await named(worker, { runId: bad!.id, message: expect.stringMatching(/invalid page in block 7/) })
  })

  it.each(['a value that is not there', 'a text that is no JSON'])(
    'a list leaves out a run with %s as its input, names it, and has older runs in its place',
    async (how) => {
      const { engine, damage, tear } = await opened()
      const client = engine()
      const { bad, others } = await started(client)
      if (how === 'a value that is not there') await tear('workflow_runs', 'input', bad.id)
      else {
        // Without a function, the database takes any text as it is.
        await damage('create cast (text as json) without function')
        onTestFinished(async () => void (await damage('drop cast (text as json)')))
        await damage(`update belay.workflow_runs set input = '{"broken'::text::json where id = $1`, [bad.id])
      }

      const found: string[][] = []
      for (let before: string | undefined; found.at(-1)?.length !== 0; before = found.at(-1)?.at(-1)) {
        const page = await client.runs.list({ limit: 7, before })
        found.push(page.map(({ id }) => id))
      }

      expect(found.map((page) => page.length)).toEqual([7, 7, 6, 0])
      expect(found.flat()).toEqual(others.map(({ id }) => id).reverse())
      await named(client, { runId: bad.id, during: 'listing runs' })
    },
  )

  it('an action on many runs reports the one that cannot be read, and acts on all others', async () => {
    const { engine, tear } = await opened()
    const client = engine()
    const { bad, others } = await started(client)
    await tear('workflow_runs', 'input', bad.id)

    const cancelled = await client.runs.cancelMany({ workflow: 'plain' })

    expect(cancelled).toMatchObject({ changed: OTHERS, more: false })
    expect([...cancelled.runIds].sort()).toEqual(others.map(({ id }) => id))
    expect(cancelled.refused).toEqual([
      {
        ...{
          runId: bad.id,
          why: LOST_VALUE,
          code: 'store_unavailable',
          refusal: undefined,
          instead: undefined,
        },
        remedy: expect.stringMatching(/SQLSTATE XX\d{3}: correct what its message names/),
      },
    ])
  })

  it.each(['by hand', 'by the policy'])(
    'keys are released %s although one row cannot be changed',
    async (how) => {
      const { engine, damage } = await opened()
      const worker = engine()
      await worker.start()
      const runs = await worker.runMany(
        plain,
        Array.from({ length: OTHERS + 1 }, (_, at) => ({ key: `key ${at}` })),
      )
      await Promise.all(runs.map((run) => run.result()))
      await worker.stop()
      const bad = runs[OTHERS / 2]!
      // A row that a restore without its constraints let in. From now on each change of it is refused.
      const name = 'workflow_runs_open_steps_counted'
      await damage(`alter table belay.workflow_runs drop constraint ${name}`)
      await damage('update belay.workflow_runs set open_steps = -1 where id = $1', [bad.id])
      await damage(`alter table belay.workflow_runs add constraint ${name} check (open_steps >= 0) not valid`)

      const client = engine({ retention: { keys: '0s', every: '1s' } })
      if (how === 'by hand') {
        await expect(client.runs.releaseKeys({ olderThan: '0s' })).rejects.toThrow(/open_steps_counted/)
      } else await client.start()

      const keys = async () => (await client.runs.list()).flatMap(({ key }) => key ?? [])
      await expect.poll(keys, WITHIN).toEqual([`key ${OTHERS / 2}`])
      if (how === 'by hand') return
      await named(client, {
        ...{ runId: bad.id, during: 'releasing the key' },
        message: expect.stringMatching(/open_steps_counted/),
      })
    },
  )
})

const LOST_VALUE = expect.stringMatching(/(missing|unexpected) chunk number .* for toast value/)

/** The bad one stands in the middle. */
async function started(engine: Engine) {
  const runs = await engine.runMany(
    plain,
    Array.from({ length: OTHERS + 1 }, () => ({})),
  )
  const bad = runs[OTHERS / 2]!
  return { bad, others: runs.filter((run) => run !== bad) }
}

function changed(store: Adapter, verbs: Partial<Adapter>): Adapter {
  return Object.assign(Object.create(null), store, verbs)
}

/** Until the doctor tells of it. */
async function named(engine: Engine, finding: object): Promise<void> {
  await expect
    .poll(async () => (await engine.doctor()).findings, WITHIN)
    .toContainEqual(expect.objectContaining({ type: 'refused_by_store', ...finding }))
}
