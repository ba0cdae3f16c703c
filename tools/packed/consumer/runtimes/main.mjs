// The same small program for every runtime: `main.mjs pglite` or `main.mjs postgres`, with DATABASE_URL. Prints one JSON line for each thing that it
// tried. It must end by itself once the engine is closed.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { BelayError, createEngine, define, PermanentError } from '@belay/workflow'
import { postgres, postgresTransaction } from '@belay/workflow-postgres'
import { pglite, pgliteTransaction } from '@belay/workflow-postgres/pglite'

const [store = 'pglite', schema = 'belay'] = process.argv.slice(2)
const isPglite = store === 'pglite'
const transaction = isPglite ? pgliteTransaction() : postgresTransaction()
const adapter = isPglite
  ? pglite(undefined, { schema })
  : postgres(process.env['DATABASE_URL'], { schema, autoMigrate: true })

const undone = []
const order = define('order', { version: 1 })
  .step('reserve', { run: () => ({ id: 'r-1' }), compensate: ({ output }) => undone.push(output.id) })
  .step('charge', {
    dependsOn: ['reserve'],
    transaction,
    run: async ({ tx, deps }) => {
      const { rows } = await tx.client.query(`select $1::text || ' paid' as receipt`, [deps.reserve.id])
      return rows[0].receipt
    },
  })
const failing = define('failing-order', { version: 1 })
  .step('reserve', { run: () => ({ id: 'r-2' }), compensate: ({ output }) => undone.push(output.id) })
  .step('ship', {
    dependsOn: ['reserve'],
    run: () => {
      throw new PermanentError('nothing on the shelf')
    },
  })

const engine = createEngine({ adapter, workflows: [order, failing] })
const checks = {
  async start() {
    await engine.start()
  },
  async step() {
    const run = await engine.run(order)
    assert.deepEqual(await run.step('reserve'), { id: 'r-1' })
  },
  async transaction() {
    const run = await engine.run(order)
    assert.equal((await run.result()).charge, 'r-1 paid')
  },
  async undo() {
    const run = await engine.run(failing)
    await assert.rejects(run.result(), (error) => BelayError.is(error) && error.code === 'run_failed')
    assert.deepEqual(undone, ['r-2'])
  },
  // A program may mix import and require(): both must get the same classes.
  async require() {
    const required = createRequire(import.meta.url)('@belay/workflow')
    assert.equal(required.BelayError, BelayError)
  },
  async close() {
    await engine.close()
  },
}

for (const [name, check] of Object.entries(checks)) {
  const startedAt = performance.now()
  const error = await check().then(
    () => null,
    (reason) => reason,
  )
  const outcome = error === null ? { ms: Math.round(performance.now() - startedAt) } : { error: error.stack }
  console.log(JSON.stringify({ name, ...outcome }))
}
