import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'

const STEPS = 50

describe.each(servers)('reading a run on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  // The status depends on all steps of the run. Computed in each of their rows, it made a run of 2,000 steps a matter of seconds.
  it.each([undefined, { after: 0, before: 2 ** 31 - 1, limit: 10 }])(
    'computes its status once, whatever items are asked for: %o',
    async (items) => {
      const schema = `belay_${randomUUID().slice(0, 8)}`
      const store = postgres(database.pool, { schema, autoMigrate: true })
      database.stores.push(store)
      await store.open()
      const edges = Object.fromEntries(Array.from({ length: STEPS }, (_, n) => [`s${n}`, []]))
      const [definition] = await store.saveDefinitions([definitionOf('wide', edges)])
      const run = { runId: randomUUID(), definitionId: definition!.id, workflow: 'wide' }
      await store.startRuns([{ ...run, key: null, input: '1' }])
      await countShownStatus(schema)

      const read = await store.readRun(run.runId, items)

      expect(read!.run.status).toBe('running')
      expect(read!.steps).toHaveLength(STEPS)
      const { rows } = await database.pool.query(`select last_value::int as calls from ${schema}.shown`)
      expect(rows).toEqual([{ calls: 1 }])
    },
  )

  /** Replaces the function by one that counts its calls. */
  async function countShownStatus(schema: string): Promise<void> {
    await database.pool.query(`create sequence ${schema}.shown`)
    await database.pool.query(`
create or replace function ${schema}.shown_status(run_id uuid, status text, start_at timestamptz) returns text language plpgsql volatile
as $$ begin perform nextval('${schema}.shown'); return status; end $$`)
  }
})
