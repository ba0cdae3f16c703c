// A worker process whose steps write to a ledger in their transactions. It can be made to stop at a point of one of them: before its STALL_NTH
// "begin", "handler" or "commit", or after it is "committed"; for STALL_MS, or for ever. Prints what happens on stdout.
import { createEngine, define, PermanentError } from '@belay/workflow'
import { postgres, postgresTransaction } from '@belay/workflow-postgres'
import pg from 'pg'

const {
  DATABASE_URL,
  NAME = 'worker',
  LEASE = '1s',
  STALL_AT,
  STALL_NTH = '1',
  STALL_MS,
  START_KEY,
} = process.env

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const passed = {}
async function stallAt(point) {
  passed[point] = (passed[point] ?? 0) + 1
  if (point !== STALL_AT || passed[point] !== Number(STALL_NTH)) return
  say({ event: 'stalled' })
  await new Promise((resolve) => {
    if (STALL_MS === undefined) setInterval(() => {}, 1_000)
    // biome-ignore lint/style/noRestrictedGlobals: a stall is what this process is for.
    else setTimeout(resolve, Number(STALL_MS))
  })
}

// Around every statement of this process, because the adapter offers no other hook.
const query = pg.Client.prototype.query
const steps = new WeakSet()
pg.Client.prototype.query = function (...args) {
  const text = typeof args[0] === 'string' ? args[0] : args[0]?.text
  const begins = text?.includes('belay_step.mark =') === true
  if (begins) steps.add(this)
  const commits = text === 'commit' && steps.has(this)
  if (!begins && !commits) return query.apply(this, args)
  return stallAt(begins ? 'begin' : 'commit')
    .then(() => query.apply(this, args))
    .then((result) => (commits ? stallAt('committed').then(() => result) : result))
}

const entry = async ({ tx, idempotencyKey }) => {
  await tx.client.query('insert into ledger (key, worker) values ($1, $2)', [idempotencyKey, NAME])
  await stallAt('handler')
}
const transactional = { transaction: postgresTransaction(), run: entry }
const transfer = define('transfer', { version: 1 })
  .step('debit', { ...transactional, compensate: transactional })
  .step('credit', { ...transactional, dependsOn: ['debit'], compensate: transactional })
  .step('mail', {
    dependsOn: ['credit'],
    run: ({ input }) => {
      if (input.fails) throw new PermanentError('the mail bounced')
    },
  })

const engine = createEngine({
  adapter: postgres(DATABASE_URL, { transactionIdleTimeoutMs: 1_500 }),
  workflows: [transfer],
  lease: LEASE,
  name: NAME,
})
for (const event of ['step.completed', 'step.compensated', 'step.discarded', 'lease.lost']) {
  engine.on(event, ({ step, reason }) => say({ event, step, reason }))
}
await engine.start()
say({ event: 'ready' })
if (START_KEY !== undefined) {
  const run = await engine.run(transfer, { fails: true }, { key: START_KEY })
  say({ event: 'run', id: run.id })
}
