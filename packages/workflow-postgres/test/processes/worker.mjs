// A worker process for the tests beside it. Records every handler call in the table "calls", through its own connection, and prints what happens on
// stdout, one JSON line each. Its environment holds all its settings.
import { createEngine, define, PermanentError, stopOnSignals } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'

const { DATABASE_URL, NAME = 'worker', LEASE = '1s', STOP_TIMEOUT = '2s' } = process.env
const { SLOW_STEP, SLOW_MS = '0', START_KEY } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 2 })

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

/** The effect is idempotent by its key, like a payment provider's. Calls are counted separately. */
async function effect({ runId, step, idempotencyKey }) {
  await pool.query('insert into calls (run_id, step, key, worker) values ($1, $2, $3, $4)', [
    runId,
    step,
    idempotencyKey,
    NAME,
  ])
  // Not before: a test may kill this process as soon as it reads this line.
  say({ call: step, key: idempotencyKey })
  // biome-ignore lint/style/noRestrictedGlobals: a slow step is what this process is for.
  if (step === SLOW_STEP) await new Promise((resolve) => setTimeout(resolve, Number(SLOW_MS)))
  await pool.query(
    'insert into effects (run_id, step, key, worker) values ($1, $2, $3, $4) on conflict do nothing',
    [runId, step, idempotencyKey, NAME],
  )
  return { by: NAME }
}

const step = { run: effect, compensate: effect }
export const saga = define('saga', { version: 1 })
  .step('reserve', step)
  .step('check', step)
  .step('charge', { ...step, dependsOn: ['reserve', 'check'] })
  .step('invoice', { ...step, dependsOn: ['charge'] })
  .step('mail', {
    dependsOn: ['invoice'],
    run: async (context) => {
      await effect(context)
      if (context.input?.fails) throw new PermanentError('the mail bounced')
    },
  })

const engine = createEngine({
  adapter: postgres(DATABASE_URL),
  workflows: [saga],
  lease: LEASE,
  name: NAME,
})
for (const event of [
  'step.completed',
  'step.compensated',
  'step.failed',
  'step.discarded',
  'run.compensating',
  'lease.lost',
]) {
  engine.on(event, ({ step: name, reason }) => say({ event, step: name, reason }))
}
await engine.start()
say({ event: 'ready' })
if (START_KEY !== undefined) {
  const run = await engine.run(saga, { fails: true }, { key: START_KEY })
  say({ event: 'run', id: run.id })
}
stopOnSignals(engine, process, { timeout: STOP_TIMEOUT, afterwards: () => pool.end() })
