import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inSchema } from '../src/connection/statement.ts'
import { SESSION_SETTINGS } from '../src/postgres/session.ts'
import { findPendingApprovals } from '../src/signals/find-approvals.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const SESSIONS = {
  'its own pool': SESSION_SETTINGS,
  'a given pool': 'set plan_cache_mode = force_custom_plan',
  'a given pool, later': 'set plan_cache_mode = force_generic_plan',
}

// Of 41,000 runs, a thousand are live, and ten of those belong to the workflow with an approval.
const ASKING = 10
const LIVE = 1_000

const HISTORY = `
insert into belay.workflow_definitions (version, created_at, name, checksum, shape)
  values (1, now(), 'works', '', '{}'), (1, now(), 'asks', '', '{}');
insert into belay.workflow_definition_steps (definition_id, step, name, dependencies, dependents, kind)
  select id, 0, 'step', '{}', '{}', case name when 'asks' then 'approval' end from belay.workflow_definitions;
insert into belay.workflow_runs (id, definition_id, open_steps, created_at, finished_at, status, workflow)
  select lpad(to_hex(n), 32, '0')::uuid, d.id, 0, now(), now(), 'completed', d.name
  from belay.workflow_definitions d, generate_series(1, 40000) n where (d.name = 'asks') = (n % 2 = 0);
insert into belay.workflow_runs (id, definition_id, open_steps, created_at, status, workflow)
  select ('f' || lpad(to_hex(n), 31, '0'))::uuid, d.id, 1, now(), 'running', d.name
  from belay.workflow_definitions d, generate_series(1, ${LIVE}) n where (d.name = 'asks') = (n <= ${ASKING});
insert into belay.workflow_steps (run_id, step, open_dependencies, fence, waiting_since, status)
  select id, 0, 0, 1, now(), 'waiting' from belay.workflow_runs where status = 'running'`

describe.each(servers)('looking for pending approvals on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it.each(['never', 'when full'] as const)(
    'reads the live runs of workflows that have approvals, and no other run, analysed %s',
    async (analysed) => {
      const { schema } = await createStore(database)
      await database.pool.query(inSchema(HISTORY, schema))
      if (analysed === 'when full') await database.pool.query('analyze')
      for (const [session, settings] of Object.entries(SESSIONS)) {
        expect(await rowsRead(schema, settings), session).toEqual({ runs: ASKING, steps: ASKING })
      }
    },
  )

  /** How many rows of each table the statement reads, used or not. */
  async function rowsRead(schema: string, settings: string) {
    const client = await database.pool.connect()
    try {
      await client.query(settings)
      const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
        `explain (analyze, format json) ${inSchema(findPendingApprovals.text, schema)}`,
        [null, null, 'f'.repeat(32), null, 1_000, 100],
      )
      const plan = rows[0]!['QUERY PLAN']
      return { runs: rowsOf(plan, 'workflow_runs'), steps: rowsOf(plan, 'workflow_steps') }
    } finally {
      client.release(true)
    }
  }
})

type Node = Readonly<Record<string, unknown>>

function rowsOf(plan: unknown, table: string): number {
  const scans = nodesOf(plan).filter((node) => node['Relation Name'] === table)
  return scans.reduce((sum, node) => {
    const perLoop = Number(node['Actual Rows']) + Number(node['Rows Removed by Filter'] ?? 0)
    return sum + perLoop * Number(node['Actual Loops'])
  }, 0)
}

function nodesOf(value: unknown): readonly Node[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as Node, ...Object.values(value).flatMap(nodesOf)]
}
