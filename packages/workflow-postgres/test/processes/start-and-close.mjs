// Does one thing with an engine, closes it at once, and says what would keep the process alive.
import { createEngine, define, unchecked } from '@belay/workflow'
import pg from 'pg'
import { postgres } from '../../dist/index.js'

const { DATABASE_URL: url, ACTION: action, RUN_ID: id, POOL: isGiven } = process.env
const order = define('order', { version: 1, input: unchecked() })
  .waitForSignal('paid', { schema: unchecked() })
  .step('reserve', { run: () => 1 })
const pool = isGiven === undefined ? undefined : new pg.Pool({ connectionString: url })
const adapter = postgres(pool ?? url, { connectionsMax: 1 })
const engine = createEngine({ adapter, workflows: [order] })

async function inTransaction() {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  await engine.run(order, {}, { tx: client })
  await client.query('commit')
  await client.end()
}

const actions = {
  run: () => engine.run(order, {}),
  runMany: () => engine.runMany(order, [{ input: {} }, { input: {} }]),
  runAndAwait: async () => void (await engine.run(order, {})).result().catch(() => {}),
  signal: () => engine.runs.handle(id).signal('paid', {}),
  cancel: () => engine.runs.handle(id).cancel(),
  tx: inTransaction,
  refused: () => engine.run(order, {}, { key: '' }).catch(() => {}),
}
await actions[action]()
await engine.close()
await adapter.close()
await pool?.end()
console.log(JSON.stringify({ event: 'closed', left: process.getActiveResourcesInfo() }))
