import type { Rows } from '../api.ts'
import { notAllowed, notFound } from '../problem.ts'
import { type App, idIn, queryOf, type Served } from '../served.ts'

const HOUR_MS = 3_600_000

/** Queries for psql. The dashboard runs none of them. */
export function routeRows(app: App, served: Served): void {
  app
    .get('/api/runs/:id/rows', async (call) => {
      queryOf(call, [])
      const id = idIn(call)
      const { engine, shared } = served
      const [[run], { store }] = await Promise.all([
        engine.runs.list({ idPrefix: id, limit: 1 }),
        // Only for the name of the schema, which does not change.
        shared.read('store', () => engine.doctor(), HOUR_MS),
      ])
      if (run === undefined) throw notFound('No run has this id.')
      return Response.json(rowsOf(id, store['schema'] ?? 'belay'))
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

function rowsOf(id: string, schema: string): Rows {
  const table = (name: string) => `"${schema.replaceAll('"', '""')}"."workflow_${name}"`
  const of = (name: string, order: string) =>
    `select * from ${table(name)} where run_id = '${id}' order by ${order};`
  return {
    queries: [
      { title: 'The run', sql: `select * from ${table('runs')} where id = '${id}';` },
      { title: 'Its steps', sql: of('steps', 'step') },
      { title: 'Kept attempts', sql: of('attempts', 'finished_at, step') },
      { title: 'Actions of operators', sql: of('history', 'id') },
      { title: 'Signals and decisions', sql: of('signals', 'received_at') },
      { title: 'What waits in the queue', sql: of('ready', 'step') },
    ],
  }
}
