import { createEngine, define } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const WITHIN = { timeout: 10_000 }

describe.each(servers)('the order of locks, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it.each(['setPriority', 'pause'] as const)(
    '%s locks steps that workers hold before the others, as settlements do',
    async (verb) => {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      const mapped = define(`mapped_${verb}`, { version: 1 })
        .map('each', { over: () => [1, 2], run: ({ item }) => released.then(() => item) })
        .step('other', { run: () => released.then(() => 'done') })
        .step('sum', { dependsOn: ['each', 'other'], run: ({ deps }) => deps.each.length })
      const store = await createStore(database)
      const engine = createEngine({ adapter: store, workflows: [mapped], tick: '20ms' })
      onTestFinished(() => engine.close({ timeout: 0 }))
      await engine.start()
      const run = await engine.run(mapped)
      const steps = (condition: string) =>
        `select s.step from ${store.schema}.workflow_steps s where s.run_id = '${run.id}' and ${condition} order by s.step`
      const held = async () => (await database.pool.query(steps(`s.status = 'running'`))).rows.length
      await expect.poll(held, WITHIN).toBe(3)
      const holder = await database.pool.connect()
      onTestFinished(() => holder.release(true))
      await holder.query('begin')
      // A pause leaves the items.
      const last = verb === 'pause' ? 's.step < 65536' : 'true'
      await holder.query(`${steps(`s.status = 'running' and ${last}`)} desc limit 1 for update`)

      const acted = verb === 'pause' ? run.pause() : run.setPriority(5)
      await expect.poll(() => waiting(database), WITHIN).toBe(1)
      const free = await database.pool.query(`${steps(`s.status <> 'running'`)} for update nowait`)

      expect(free.rows.length).toBeGreaterThan(1)
      await holder.query('rollback')
      await acted
      if (verb === 'pause') await run.resume()
      release()
      expect(await run.result()).toMatchObject({ sum: 2 })
    },
  )
})

/** How many statements wait for the lock of a row. */
async function waiting({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]!.waiting
}
