// A worker of the new engine, for chaos.test.ts beside it. Its handlers write when they began and ended into the table "ledger", through connections of
// their own.
import pg from 'pg'
import { AttemptAsker } from '../../../workflow/dist/engine/asker/asker.js'
import { Context } from '../../../workflow/dist/engine/base/context.js'
import { EventHub } from '../../../workflow/dist/engine/base/events.js'
import { systemRuntime } from '../../../workflow/dist/engine/base/runtime.js'
import { define, PermanentError } from '../../../workflow/dist/index.js'
import { silentLogger } from '../../../workflow/dist/logger.js'
import { specOfShape } from '../../../workflow/dist/machine/spec-of-shape.js'
import { codeOf, Owner } from '../../../workflow/dist/owner/index.js'
import { postgresStore } from '../../dist/postgres/postgres.js'

const { DATABASE_URL, NAME = 'worker', LEASE_MS = '1000' } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 4 })
pool.on('error', () => {})
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

/** Until it is there: what the ledger does not know has not happened. */
async function write(...entry) {
  for (;;) {
    try {
      return await pool.query(
        'insert into ledger (run_id, step, phase, attempt, what, at, worker) values ($1, $2, $3, $4, $5, $6, $7)',
        [...entry, NAME],
      )
    } catch {
      await new Promise((resolve) => systemRuntime.clock.after(20, resolve))
    }
  }
}

function handler(phase) {
  return async ({ runId, step, attempt }) => {
    const at = performance.timeOrigin + performance.now()
    await write(runId, step, phase, attempt, 'begin', at)
    await new Promise((resolve) => systemRuntime.clock.after(Math.random() * 30, resolve))
    await write(runId, step, phase, attempt, 'end', performance.timeOrigin + performance.now())
    return { attempt }
  }
}

const run = handler('run')
const both = { run, compensate: handler('undo') }
const flaky = {
  ...both,
  retry: { attempts: 20, initial: 20, max: 50 },
  run: async (context) => {
    await run(context)
    if (context.attempt === 1) throw new Error('not at first')
  },
}
const saga = define('saga', { version: 1 })
  .step('a', both)
  .step('b', { ...both, dependsOn: ['a'] })
  .step('c', { ...flaky, dependsOn: ['a'] })
  .step('d', { ...both, dependsOn: ['b', 'c'] })
  .step('e', {
    dependsOn: ['d'],
    run: async (context) => {
      await run(context)
      if (context.input.fails) throw new PermanentError('no')
    },
  })

const store = postgresStore(DATABASE_URL, {})
await store.open()
const [{ id }] = await store.define([saga.record])
const context = new Context()
const runtime = { ...systemRuntime, context }
const asker = new AttemptAsker({
  ...{ store, runtime, events: new EventHub(silentLogger, context), definitions: new Map([[id, saga]]) },
  ...{ log: silentLogger, around: undefined, payloadMaxBytes: 1e6, storeStacks: false, workerId: NAME },
  runOf: (runId) => owner.owned.get(runId),
  now: () => owner.now(),
  mayBegin: () => owner.mayBegin(),
  childCode: () => Promise.reject(new Error('It has no children.')),
})
const log = {
  debug() {},
  info() {},
  warn: (message) => say({ event: 'warn', message }),
  error: (message) => say({ event: 'error', message }),
}
const owner = new Owner({
  ...{ store, asker, log, name: NAME, slots: 10, leaseMs: Number(LEASE_MS), tickMs: 200 },
  ...{
    clock: runtime.clock,
    newId: runtime.newId,
    codes: new Map([[id, codeOf(id, 'saga', specOfShape(saga.record.shape))]]),
  },
})
await owner.start()
say({ event: 'ready' })
process.once('SIGTERM', async () => {
  await owner.stop(100)
  await store.close()
  await pool.end()
  process.exit(0)
})
