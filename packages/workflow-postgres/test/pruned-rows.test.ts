import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { assertNoOrphans } from './setup/orphans.ts'

const RUN = '00000000-0000-7000-8000-000000000001'

/** An ended run, with a row in every table that has rows of runs. */
const EVERYTHING = `
insert into workflow_runs (id, definition_id, open_steps, created_at, finished_at, status, workflow)
  values ('${RUN}', 1, 0, now(), now(), 'completed', 'w');
insert into workflow_steps (run_id, step, open_dependencies, fence, started_at, finished_at, status)
  values ('${RUN}', 0, 0, 1, now(), now(), 'completed');
insert into workflow_signals (run_id, step, superseded, received_at, key)
  values ('${RUN}', 0, 0, now(), 'k'), ('${RUN}', 0, 1, now(), 'k');
insert into workflow_history (run_id, at, action) values ('${RUN}', now(), 'pause');
insert into workflow_attempts (run_id, step, fence, round, attempt, undo, finished_at, ended)
  values ('${RUN}', 0, 1, 1, 1, false, now(), 'completed');
insert into workflow_values (run_id, step, fence, sequence, at, key, value) values ('${RUN}', 0, 1, 1, now(), 'k', '1')`

describe.each(servers)('pruning on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it('leaves no row of a run in any table', async () => {
    const adapter = await createStore(database)
    const { schema } = adapter
    const query = (text: string) => database.pool.query(text)
    await query(EVERYTHING.replaceAll('into workflow_', `into ${schema}.workflow_`))

    expect(await adapter.prune({ runIds: [RUN], finishedBefore: Date.UTC(2100, 0, 1) })).toEqual([RUN])

    await assertNoOrphans(query, schema)
  })

  it('fails this test when it leaves rows behind', async () => {
    const { schema } = await createStore(database)
    const query = (text: string) => database.pool.query(text)
    await query(EVERYTHING.replaceAll('into workflow_', `into ${schema}.workflow_`))
    await query(`delete from ${schema}.workflow_runs`)

    await expect(assertNoOrphans(query, schema)).rejects.toThrow(/6 rows belong to runs that are gone/)
  })
})
