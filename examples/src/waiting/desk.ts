import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createEngine, type Duration } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { pglite } from '@belay/workflow-postgres/pglite'
import { effectsIn } from './effects.ts'
import { expenseClaim } from './expense-claim.ts'
import { shippedOrder } from './shipped-order.ts'

const HELP = `Usage: node examples/dist/waiting/desk.js <command> --folder <path> [options]

Each command is a process of its own, and may be killed at any moment:
  claim <key>                      somebody claims 12,000 cents for a train journey
  approve <key> <who> [<limit>]    a manager says yes
  reject <key> <who> <why>         … or no
  order <key>                      somebody orders
  ship <key> <tracking>            the carrier's webhook
  show                             every run and its status
  work                             a worker, until it is killed

Options:
  --folder <path>    folder of the recorded effects, and of the database unless DATABASE_URL names a server
  --unpacking <time> how long a customer takes to unpack (default: 3d)
  --stay             keep running after the command, to be killed`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string' },
    unpacking: { type: 'string', default: '3d' },
    stay: { type: 'boolean', default: false },
  },
})
const [command, key = '', ...details] = positionals
const { folder } = values
if (command === undefined || folder === undefined) {
  console.log(HELP)
  process.exit(command === undefined ? 0 : 2)
}

const effects = effectsIn(join(folder, 'effects.txt'))
const claim = expenseClaim(effects)
const order = shippedOrder(effects, { unpacking: values.unpacking as Duration })
const url = process.env['DATABASE_URL']
const adapter = url === undefined ? pglite(join(folder, 'database')) : postgres(url, { autoMigrate: true })
const engine = createEngine({ adapter, workflows: [claim, order] })

switch (command) {
  case 'claim': {
    const run = await engine.run(
      claim,
      { employee: 'ada', amountCents: 12_000, for: 'a train journey' },
      { key },
    )
    console.log(`claim ${key} is run ${run.id}`)
    break
  }
  case 'approve': {
    const [by = '', limit] = details
    const payload = limit === undefined ? {} : { limitCents: Number(limit) }
    const receipt = await engine.approve({ workflow: claim, key }, 'manager', { by, payload })
    console.log(`approval of ${key}: ${receipt.result}`)
    break
  }
  case 'reject': {
    const [by = '', comment] = details
    const receipt = await engine.reject({ workflow: claim, key }, 'manager', { by, comment })
    console.log(`rejection of ${key}: ${receipt.result}`)
    break
  }
  case 'order': {
    const run = await engine.run(order, { customer: 'grace', totalCents: 4_500 }, { key })
    console.log(`order ${key} is run ${run.id}`)
    break
  }
  case 'ship': {
    const [tracking = ''] = details
    // A webhook may be sent again: its own id makes that harmless.
    const receipt = await engine.signal({ workflow: order, key }, 'shipped', { tracking }, { key: tracking })
    console.log(`shipment of ${key}: ${receipt.result}`)
    break
  }
  case 'show':
    for (const run of await engine.runs.list()) console.log(`${run.key}: ${run.status}`)
    break
  case 'work':
    engine.on('step.waiting', ({ step }) => console.log(`${step}: waiting`))
    engine.on('step.completed', ({ step }) => console.log(`${step}: completed`))
    engine.on('run.completed', ({ status }) => console.log(`run: ${status}`))
    engine.on('run.compensated', ({ status }) => console.log(`run: ${status}`))
    await engine.start()
    console.log('working')
    break
  default:
    console.log(HELP)
    process.exitCode = 2
}

if (values.stay) setInterval(() => {}, 1_000)
else if (command !== 'work') await engine.close()
