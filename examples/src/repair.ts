import { memory } from '@belay/testing'
import { createEngine, define, PermanentError } from '@belay/workflow'

/** They differ each time. */
const IDS = /[0-9a-f]{8}-[0-9a-f-]{27}/g

let bankIsOpen = false
const payout = define('payout', { version: 1 })
  .step('reserve', { run: () => 'reservation 7', compensate: () => console.log('released reservation 7') })
  .step('transfer', {
    dependsOn: ['reserve'],
    run: () => 'transfer 1',
    compensate: {
      retry: false,
      run: () => {
        if (!bankIsOpen) throw new Error('the bank is closed')
      },
    },
  })
  .step('notify', { dependsOn: ['transfer'], run: () => Promise.reject(new PermanentError('no address')) })

const adapter = memory({ clock: 'real' })
const worker = createEngine({ adapter, workflows: [payout], logger: false })
await worker.start()
const runs = await worker.runMany(payout, [{ input: 1 }, { input: 2 }, { input: 3 }])
await Promise.allSettled(runs.map((run) => run.result()))

// An operator's process: it has none of the code, and claims nothing. With `postgres(url)` it looks after the runs of any application.
const operator = createEngine({ adapter, workflows: [] })
for (const { name, versions } of await operator.workflows.list()) {
  const { steps } = await operator.workflows.get(name)
  console.log(
    `${name}, versions ${versions.map(({ version }) => version)}: ${steps.map((step) => step.name).join(' → ')}`,
  )
}
const { parkedUndos } = await operator.queue()
console.log(`${parkedUndos.count} undos are parked.`)
for (const { message } of (await operator.doctor()).findings) console.log(`! ${message.replaceAll(IDS, '…')}`)

const parked = await operator.runs.list({ status: 'compensation_failed' })
for (const { sentence, actions } of (await operator.explain(parked[0]!.id)).steps)
  console.log(`  ${sentence} [${actions.map(({ verb }) => verb).join(', ')}]`)

bankIsOpen = true
const one = await operator.retryCompensation(parked[0]!.id, 'transfer', {
  by: 'ada',
  reason: 'the bank is open',
})
console.log(`transfer: ${one.from} → ${one.to}`)
const ids = parked.slice(1).map(({ id }) => id)
const dry = await operator.runs.retryCompensationMany(ids, 'transfer', { dryRun: true })
console.log(`${dry.changed} would be repaired, ${dry.refused.length} refused.`)
await operator.runs.retryCompensationMany(dry.runIds, 'transfer', { by: 'ada', reason: 'the bank is open' })
await Promise.allSettled(runs.map((run) => run.result()))
for await (const { key, status, history } of operator.runs.export({ workflow: 'payout' }))
  console.log(
    `${key ?? 'payout'}: ${status}, ${history.map(({ action, by }) => `${action} by ${by}`).join(', ')}`,
  )
await Promise.all([worker.close(), operator.close()])
