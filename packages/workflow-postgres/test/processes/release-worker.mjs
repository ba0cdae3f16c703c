// A process of one release: it is copied beside that release's packages. It migrates, or works and starts runs one after the other, as many as RUNS
// says. Says what happens on stdout, one JSON line each.
import { createEngine, define, PermanentError, unchecked } from '@belay/workflow'
import { migrate, postgres, postgresTransaction } from '@belay/workflow-postgres'

const { DATABASE_URL, NAME = 'worker', RUNS = '1000000', MIGRATE, SETTINGS = '{}' } = process.env
const LANES = 2
let started = 0

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const entry = async ({ tx, runId, idempotencyKey }) => {
  const values = [runId, idempotencyKey, NAME]
  await tx.client.query('insert into ledger (run_id, key, worker) values ($1, $2, $3)', values)
}
const transactional = { transaction: postgresTransaction(), run: entry }

const order = define('order', { version: 1 })
  .step('reserve', { ...transactional, compensate: transactional })
  .step('quote', { run: () => 'quoted' })
  .waitForSignal('paid', { dependsOn: ['reserve', 'quote'], schema: unchecked() })
  .step('charge', { ...transactional, dependsOn: ['paid'], compensate: transactional })
  .step('ship', {
    dependsOn: ['charge'],
    run: ({ input }) => {
      if (input.n % 5 === 0) throw new PermanentError('nothing to ship')
      return 'shipped'
    },
  })

if (MIGRATE !== undefined) {
  say({ event: 'migrated', ...(await migrate(DATABASE_URL, JSON.parse(SETTINGS))) })
} else await work()

async function work() {
  const engine = createEngine({
    adapter: postgres(DATABASE_URL),
    workflows: [order],
    lease: '2s',
    tick: '100ms',
    name: NAME,
  })
  for (const event of ['store.notice', 'store.unavailable', 'step.discarded', 'lease.lost']) {
    engine.on(event, ({ code, reason, error }) => say({ event, code, reason, error: error?.message }))
  }
  await engine.start()
  say({ event: 'ready' })
  let isStopping = false
  const lane = async () => {
    while (!isStopping && started < Number(RUNS)) {
      started += 1
      const n = started
      const run = await engine.run(order, { n })
      await engine.signal(run.id, 'paid', n, { key: 'paid' })
      say({ event: 'started' })
      await run.result().catch((error) => {
        if (error.code !== 'run_failed') throw error
      })
      say({ event: 'ended' })
    }
  }
  const lanes = Promise.all(Array.from({ length: LANES }, lane))
  lanes.then(() => say({ event: 'quiet' }))
  // Lanes first: a run that is started has been signalled, and its end was seen.
  process.once('SIGTERM', async () => {
    isStopping = true
    await lanes
    await engine.close({ timeout: '20s' })
    process.exit(0)
  })
}
