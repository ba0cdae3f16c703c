import { startPostgres } from '@belay/postgres-server'
import { createEngine } from '@belay/workflow'
import { migrate, postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { Hands } from '../load/hands.ts'
import { makeWorkflows } from '../load/workflows.ts'
import { APPLICATION_TABLES, TRIGGERS, WORLD_TABLES } from '../world/schema.ts'
import { World } from '../world/world.ts'

/** The supervisor's statements time out after this: then the server has a fault. */
const STATEMENT_MS = 5_000

/** The servers, and the supervisor's connections to them. */
export async function openServers() {
  const [server, worldServer] = await Promise.all([
    // A crash must lose nothing committed. The machine itself does not crash, so nothing must reach the disk.
    startPostgres({ settings: { synchronous_commit: 'on', full_page_writes: 'on', max_connections: '300' } }),
    startPostgres({ settings: { max_connections: '60' } }),
  ])
  const [url, worldUrl] = await Promise.all([server.createDatabase(), worldServer.createDatabase()])
  const database = supervisorsPool(url, 'chaos')
  const operators = supervisorsPool(url, 'operator')
  const world = new pg.Pool({ connectionString: worldUrl, max: 4 })
  for (const pool of [database, operators, world]) pool.on('error', () => {})
  await migrate(url)
  await database.query(APPLICATION_TABLES)
  await database.query(TRIGGERS)
  await world.query(WORLD_TABLES)
  const workflows = makeWorkflows(new Hands(new World(worldUrl, 'supervisor')))
  const engine = createEngine({
    adapter: postgres(operators, { listen: false }),
    workflows: Object.values(workflows),
    name: 'operator',
  })
  return {
    ...{ server, url, worldUrl, database, world, engine, workflows },
    async close() {
      await engine.close()
      await Promise.all([server.stop(), worldServer.stop()])
      await Promise.allSettled([database.end(), operators.end(), world.end()])
    },
  }
}

/** The supervisor's own commits do not hang on a missing standby, and its sessions write: only the load's are to meet what faults do. */
function supervisorsPool(url: string, name: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    application_name: name,
    options: '-c synchronous_commit=local -c default_transaction_read_only=off',
    query_timeout: STATEMENT_MS,
    connectionTimeoutMillis: STATEMENT_MS,
  })
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
