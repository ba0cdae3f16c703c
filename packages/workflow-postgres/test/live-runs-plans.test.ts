import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection } from '../src/connection/connection.ts'
import { inSchema, type Statement } from '../src/connection/statement.ts'
import { SESSION_SETTINGS } from '../src/postgres/session.ts'
import { countReady } from '../src/read/count-ready.ts'
import { countRuns } from '../src/read/count-runs.ts'
import { listDefinitions } from '../src/read/list-definitions.ts'
import { listRuns } from '../src/read/list-runs.ts'
import { diagnose } from '../src/workers/diagnose.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const WORKFLOWS = 8
const RUNS_OF_EACH = 3_000

describe.each(servers)('among many live runs on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** Only the newest workflow's runs wait; those of the others are ready, and of the first one they wait for a slot. */
  async function storeWithLiveRuns(analysed: boolean): Promise<string> {
    const { schema } = await createStore(database)
    const run = (text: string) => database.pool.query(inSchema(text, schema))
    for (const table of ['runs', 'steps', 'ready', 'limit_waiters'])
      await run(`alter table belay.workflow_${table} set (autovacuum_enabled = false)`)
    await run(`
insert into belay.workflow_definitions (version, created_at, name, checksum, shape)
  select 1, now(), 'w' || n, '', '{}' from generate_series(0, ${WORKFLOWS - 1}) n;
insert into belay.workflow_runs (id, definition_id, open_steps, created_at, status, workflow)
  select lpad(to_hex(n), 32, '0')::uuid, d.id, 1, now(), 'running', d.name
  from generate_series(1, ${WORKFLOWS * RUNS_OF_EACH}) n join belay.workflow_definitions d on d.name = 'w' || (n - 1) / ${RUNS_OF_EACH};
insert into belay.workflow_steps (run_id, step, fence, open_dependencies, status, waiting_since)
  select r.id, 0, 1, 0, case r.workflow when 'w${WORKFLOWS - 1}' then 'waiting' else 'ready' end, case r.workflow when 'w${WORKFLOWS - 1}' then now() end
  from belay.workflow_runs r order by r.id;
insert into belay.workflow_limit_waiters (run_id, step, fence, since, limit_name, key, limits, keys, of_run)
  select r.id, 0, 1, now(), 'full', '', array['full'], array[''], array[false] from belay.workflow_runs r where r.workflow = 'w0';
insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select now(), r.definition_id, 0, 1, r.id from belay.workflow_runs r where r.workflow not in ('w0', 'w${WORKFLOWS - 1}');`)
    if (analysed)
      await run('analyze belay.workflow_runs; analyze belay.workflow_steps; analyze belay.workflow_ready')
    return schema
  }

  it.each([
    ['never analysed', false],
    ['analysed', true],
  ])('looks at as many as it must, %s', async (_when, analysed) => {
    const schema = await storeWithLiveRuns(analysed)
    const client = await database.pool.connect()
    const blocksOf = async (read: (connection: Connection) => Promise<unknown>) => {
      const counting = countingBlocks(client, schema)
      await read(counting.connection)
      return counting.blocks()
    }
    const live = WORKFLOWS * RUNS_OF_EACH
    try {
      await client.query(SESSION_SETTINGS)
      const list = await blocksOf((c) => listRuns(c, { status: ['waiting'], limit: 50 }))
      const parked = await blocksOf((c) => countRuns(c, { status: ['parked'], max: 1_000, byStatus: false }))
      const line = await blocksOf((c) => listRuns(c, { waitingFor: { limit: 'full' }, limit: 50 }))
      const workflows = await blocksOf((c) => listDefinitions(c, { after: null, limit: 50, liveMax: 100 }))
      const ready = await blocksOf((c) => countReady(c, { max: 1_000 }))
      const doctor = await blocksOf((c) =>
        diagnose(c, { overdueMs: 60_000, recentMs: 60_000, adapter: 'postgres', schema }),
      )

      // The steps of the 50 newest runs, not those of all others.
      expect(list, 'list').toBeLessThan(1_500)
      // No step at all: none of these workflows has a pivot.
      expect(parked, 'parked').toBeLessThan(live / 4)
      // The line itself, and the runs and steps of its 50 newest.
      expect(line, 'line').toBeLessThan(2 * RUNS_OF_EACH)
      // A hundred of each workflow.
      expect(workflows, 'workflows').toBeLessThan(WORKFLOWS * 4 * 10 + WORKFLOWS * 100)
      // A thousand entries of each queue, and then a thousand steps with their runs, each by its key.
      expect(ready, 'ready').toBeLessThan(WORKFLOWS * 100 + 1_001 * 10)
      // The steps of the 10,000 oldest runs once, each by its key.
      expect(doctor, 'doctor').toBeLessThan(10_000 * 6)
    } finally {
      client.release(true)
    }
  })

  it('counts the oldest and the newest of them, and says that there are more', async () => {
    const schema = await storeWithLiveRuns(true)
    const client = await database.pool.connect()
    try {
      const connection = countingBlocks(client, schema).connection
      const request = { overdueMs: 60_000, recentMs: 60_000, adapter: 'postgres', schema }

      const { liveRuns, moreLiveRuns } = await diagnose(connection, request)

      expect(moreLiveRuns).toBe(true)
      expect(liveRuns.map(({ workflow, runs }) => [workflow, runs])).toEqual([
        ['w0', RUNS_OF_EACH],
        ['w1', RUNS_OF_EACH],
        ['w2', RUNS_OF_EACH],
        ['w3', 1_000],
        ['w4', 1_001],
        ['w5', RUNS_OF_EACH],
        ['w6', RUNS_OF_EACH],
        ['w7', RUNS_OF_EACH],
      ])
    } finally {
      client.release(true)
    }
  })
})

/** A connection that counts the blocks that its statements touch. */
function countingBlocks(client: PoolClient, schema: string) {
  let blocks = 0
  const connection = {
    transaction: (work: (connection: Connection) => Promise<unknown>) =>
      work(connection as unknown as Connection),
    async query(statement: Statement<unknown>, values: readonly unknown[]) {
      const text = inSchema(statement.text, schema)
      const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, [...values])
      const plan = rows[0]['QUERY PLAN'][0].Plan
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
      return (await client.query(text, [...values])).rows
    },
  }
  return { connection: connection as unknown as Connection, blocks: () => blocks }
}
