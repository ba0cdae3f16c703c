import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inSchema } from '../src/connection/statement.ts'
import { postgres } from '../src/index.ts'
import { SESSION_SETTINGS } from '../src/postgres/session.ts'
import { readRunStatement } from '../src/read/read-runs.ts'
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
  it.each([undefined, { after: 0, before: 2 ** 31 - 1, limit: 10 }, { eachStatusMax: 10 }])(
    'computes its status once, whatever items are asked for: %o',
    async (items) => {
      const { store, schema, runId } = await wideRun()
      await countShownStatus(schema)

      const read = await store.readRun(runId, items)

      expect(read!.run.status).toBe('running')
      expect(read!.steps).toHaveLength(STEPS)
      const { rows } = await database.pool.query(`select last_value::int as calls from ${schema}.shown`)
      expect(rows).toEqual([{ calls: 1 }])
    },
  )

  // Joined in the wrong order, each step of the definition was looked up among all steps of the run.
  it.each([
    ['its own pool', SESSION_SETTINGS],
    ['a given pool', 'select 0'],
  ])('looks up every step once in %s', async (_, settings) => {
    const { schema, runId } = await wideRun()
    const client = await database.pool.connect()
    await client.query(`begin; ${settings.replaceAll('set ', 'set local ')}`)

    const { rows } = await client.query(
      `explain (analyze, format json) ${inSchema(readRunStatement.text, schema)}`,
      [runId],
    )

    await client.query('rollback')
    client.release()
    const visited = visitedRows(rows[0]['QUERY PLAN'][0].Plan)
    expect(visited).toMatchObject({ workflow_steps: STEPS, workflow_definition_steps: STEPS, discarded: 0 })
  })

  /** A run of many steps that do not depend on each other, in a schema of its own. */
  async function wideRun() {
    const schema = `belay_${randomUUID().slice(0, 8)}`
    const store = postgres(database.pool, { schema, autoMigrate: true })
    database.stores.push(store)
    await store.open()
    const edges = Object.fromEntries(Array.from({ length: STEPS }, (_, n) => [`s${n}`, []]))
    const [definition] = await store.saveDefinitions([definitionOf('wide', edges)])
    const run = { runId: randomUUID(), definitionId: definition!.id, workflow: 'wide' }
    await store.startRuns([{ ...run, key: null, input: '1' }])
    return { store, schema, runId: run.runId }
  }

  /** Replaces the function by one that counts its calls. */
  async function countShownStatus(schema: string): Promise<void> {
    await database.pool.query(`create sequence ${schema}.shown`)
    await database.pool.query(`
create or replace function ${schema}.shown_status(run_id uuid, status text, start_at timestamptz) returns text language plpgsql volatile
as $$ begin perform nextval('${schema}.shown'); return status; end $$`)
  }
})

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** How many rows of each table a plan read, and under `discarded`, how many pairs its joins tried in vain. */
function visitedRows(node: PlanNode, visited: Record<string, number> = {}): Record<string, number> {
  const add = (what: string, rows: number) => {
    visited[what] = (visited[what] ?? 0) + rows * node['Actual Loops']
  }
  const table = node['Relation Name']
  if (table !== undefined) add(table, node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0))
  add('discarded', node['Rows Removed by Join Filter'] ?? 0)
  for (const inner of node.Plans ?? []) visitedRows(inner, visited)
  return visited
}
