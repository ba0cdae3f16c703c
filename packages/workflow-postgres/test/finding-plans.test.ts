import type { RunConditions, RunFilter } from '@belay/workflow/adapter'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection } from '../src/connection/connection.ts'
import { inSchema, type Statement } from '../src/connection/statement.ts'
import { SESSION_SETTINGS } from '../src/postgres/session.ts'
import { countRuns } from '../src/read/count-runs.ts'
import { listRuns } from '../src/read/list-runs.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const RUNS = 40_000
/** The oldest of them wait for a slot. */
const WAITING = 100
/** When the newest run was created. The one before it is ten seconds older, and so on. */
const NEWEST_AT = Date.UTC(2026, 2, 1)
const agoMs = (ms: number) => NEWEST_AT - ms
const prefix = (ms: number, digits: number) => agoMs(ms).toString(16).padStart(12, '0').slice(0, digits)

/** The conditions, and how many rows of runs may be read for a list of 50. Each list finally reads 50 runs by id. */
const LISTS: readonly (readonly [Omit<RunFilter, 'limit'>, number])[] = [
  // 100 runs have it; they are read once to count them and once to sort them.
  [{ tags: ['rare:7'] }, 250],
  [{ tags: ['rare:7', 'common'] }, 250],
  [{ tags: ['rare:7'], workflow: ['w'], status: ['failed'], createdAfter: agoMs(12 * HOUR) }, 250],
  [{ tags: ['none'], finishedAfter: agoMs(12 * HOUR) }, 0],
  // Every other run has it: a walk soon finds the newest.
  [{ tags: ['common'] }, 10_001 + 150],
  [{ tags: ['common'], workflow: ['w'], status: ['completed'] }, 10_001 + 200],
  // At either end of a range of ids, up to three minutes of runs are read.
  [{ createdAfter: agoMs(20 * MINUTE) }, 200],
  [{ createdBefore: agoMs(50 * HOUR) }, 150],
  [{ createdAfter: agoMs(50 * HOUR), createdBefore: agoMs(50 * HOUR - 5 * MINUTE) }, 150],
  [{ createdBefore: agoMs(50 * HOUR), workflow: ['w'], status: ['failed', 'completed'] }, 250],
  [{ createdBefore: agoMs(50 * HOUR), workflow: ['w', 'none'] }, 250],
  [{ finishedBefore: agoMs(50 * HOUR) }, 150],
  // Six in a minute; they are read once to count them and once to sort them.
  [{ finishedAfter: agoMs(50 * HOUR), finishedBefore: agoMs(50 * HOUR - MINUTE), workflow: ['w'] }, 20],
  [{ finishedAfter: agoMs(10 * MINUTE) }, 200],
  // Most of the history: a walk soon finds the newest.
  [{ finishedAfter: agoMs(100 * HOUR) }, 10_001 + 250],
  // The history has one version. Its ids begin with the time: 8 digits span 65.536 seconds, 7 runs.
  [{ version: 1 }, 100],
  // Read once to count them and once to sort them: 111 keys begin so. Each run has a key that begins so: a walk soon finds the newest.
  [{ keyPrefix: 'run:123' }, 2 * 111 + 50],
  [{ keyPrefix: 'run:123', workflow: ['w'], status: ['failed'] }, 2 * 111 + 50],
  [{ keyPrefix: 'run:' }, 10_001 + 2_000],
  [{ idPrefix: prefix(50 * HOUR, 8) }, 20],
  [{ idPrefix: prefix(50 * HOUR, 8), workflow: ['w'] }, 30],
  [{ idPrefix: prefix(50 * HOUR, 8), workflow: ['w'], status: ['completed', 'failed'] }, 30],
  [{ idPrefix: prefix(50 * HOUR, 12), version: 1 }, 5],
  // The page above a run: 50 runs.
  [{ after: `${prefix(50 * HOUR, 8)}-0000-7000-8000-000000000000` }, 100],
  [{ after: `${prefix(50 * HOUR, 8)}-0000-7000-8000-000000000000`, workflow: ['w'] }, 250],
  [
    { after: `${prefix(50 * HOUR, 8)}-0000-7000-8000-000000000000`, workflow: ['w'], status: ['failed'] },
    150,
  ],
  [{ after: `${prefix(50 * HOUR, 8)}-0000-7000-8000-000000000000`, createdBefore: agoMs(20 * MINUTE) }, 200],
  // A hundred steps wait; their runs are read to know that they do, and to sort them.
  [{ waitingFor: { limit: 'full' } }, 500],
  [{ waitingFor: { limit: 'full', key: 'a' } }, 500],
  [{ waitingFor: { limit: 'full', key: 'b' } }, 0],
  [{ waitingFor: { limit: 'full' }, workflow: ['w'], createdAfter: agoMs(12 * HOUR) }, 500],
]

/** The same for a count up to 1,000. */
const COUNTS: readonly (readonly [RunConditions, number])[] = [
  [{}, 1_001],
  [{ workflow: ['w'] }, 1_100],
  [{ status: ['failed'] }, 1_100],
  [{ tags: ['rare:7'] }, 200],
  [{ createdBefore: agoMs(50 * HOUR) }, 1_100],
  [{ finishedBefore: agoMs(50 * HOUR) }, 1_100],
  [{ workflow: ['w'], status: ['failed'], createdBefore: agoMs(50 * HOUR) }, 1_100],
  [{ waitingFor: { limit: 'full' } }, 500],
]

describe.each(servers)('finding runs on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** A schema with a history whose runs have time-ordered ids, with or without statistics. */
  async function storeWithHistory(analysed: boolean): Promise<string> {
    const { schema } = await createStore(database)
    const run = (text: string) => database.pool.query(inSchema(text, schema))
    await run('alter table belay.workflow_runs set (autovacuum_enabled = false)')
    await run(`
insert into belay.workflow_definitions (version, created_at, name, checksum, shape) values (1, now(), 'w', '', '{}');
insert into belay.workflow_runs (id, definition_id, open_steps, created_at, finished_at, status, stop, cause, workflow, key, tags)
select (lpad(to_hex(made.ms), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid, 1, 0, to_timestamp(made.ms / 1000.0),
  to_timestamp(made.ms / 1000.0 + 2), case when n % 10 = 0 then 'failed' else 'completed' end,
  case when n % 10 = 0 then 'failure' end, case when n % 10 = 0 then '{}'::json end, 'w', 'run:' || n,
  array['rare:' || n % 400] || case when n % 2 = 0 then array['common'] else '{}' end
from generate_series(0, ${RUNS - 1}) n
cross join lateral (select ${NEWEST_AT} - 10000::bigint * (${RUNS - 1} - n) as ms) made;`)
    await run(`
update belay.workflow_runs set status = 'running', finished_at = null, stop = null, cause = null, open_steps = 1
where id in (select r.id from belay.workflow_runs r order by r.id limit ${WAITING});
insert into belay.workflow_steps (run_id, step, fence, open_dependencies, status)
select r.id, 0, 1, 0, 'ready' from belay.workflow_runs r where r.status = 'running';
insert into belay.workflow_limit_waiters (run_id, step, fence, since, limit_name, key, limits, keys, of_run)
select r.id, 0, 1, now(), 'full', 'a', array['full'], array['a'], array[false] from belay.workflow_runs r where r.status = 'running';`)
    if (analysed) await run('analyze belay.workflow_runs')
    return schema
  }

  it.each([
    ['never analysed', false],
    ['analysed', true],
  ])(`reads about as many of ${RUNS} runs as it finds, %s`, async (_when, analysed) => {
    const schema = await storeWithHistory(analysed)
    const client = await database.pool.connect()
    const tooMany: string[] = []
    const note = (what: string, conditions: RunConditions, read: number, allowed: number) => {
      if (read > allowed)
        tooMany.push(`${what} ${JSON.stringify(conditions)}: read ${read}, allowed ${allowed}`)
    }
    try {
      for (const settings of [SESSION_SETTINGS, 'set plan_cache_mode = force_custom_plan']) {
        await client.query(`reset all; ${settings}`)
        for (const [conditions, allowed] of LISTS) {
          const counting = countingReads(client, schema)
          await listRuns(counting.connection, { ...conditions, limit: 50 })
          note(`${settings.slice(0, 40)} list`, conditions, counting.read(), allowed)
        }
        for (const [conditions, allowed] of COUNTS) {
          const counting = countingReads(client, schema)
          await countRuns(counting.connection, { ...conditions, max: 1_000, byStatus: false })
          note(`${settings.slice(0, 40)} count`, conditions, counting.read(), allowed)
        }
      }
    } finally {
      client.release(true)
    }
    expect(tooMany).toEqual([])
  })
})

/** A connection that counts the rows of the runs' table that its statements read. */
function countingReads(client: PoolClient, schema: string) {
  let read = 0
  const connection = {
    transaction: (work: (connection: Connection) => Promise<unknown>) =>
      inTransaction(client, () => work(connection as unknown as Connection)),
    async query(statement: Statement<unknown>, values: readonly unknown[]) {
      const text = inSchema(statement.text, schema)
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, [...values])
      read += rowsRead(rows[0]['QUERY PLAN'][0].Plan)
      return (await client.query(text, [...values])).rows
    },
  }
  return { connection: connection as unknown as Connection, read: () => read }
}

async function inTransaction<Result>(client: PoolClient, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin')
  try {
    return await work()
  } finally {
    await client.query('rollback')
  }
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

function rowsRead(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0)
  if (node['Relation Name'] !== 'workflow_runs') return below
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return below + (node['Actual Rows'] + removed) * node['Actual Loops']
}
