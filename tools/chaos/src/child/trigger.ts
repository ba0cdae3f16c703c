import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { Hands } from '../load/hands.ts'
import { drawInput, type Input } from '../load/input.ts'
import { makeWorkflows, type Version } from '../load/workflows.ts'
import { Random } from '../random.ts'
import {
  findIntent,
  type Intent,
  type IntentKind,
  isCollecting,
  openIntents,
  writeIntents,
} from '../world/intents.ts'
import { ACCOUNTS } from '../world/schema.ts'
import { World } from '../world/world.ts'
import { Calls } from './calls.ts'
import { openChannel } from './channel.ts'
import { Companion } from './companion.ts'
import { exhaust } from './exhaust.ts'
import { POOL_MAX, QUERY_TIMEOUT_MS, type TriggerSetup } from './protocol.ts'
import { Starter } from './starter.ts'

const LOOK_MS = 100
const TELL_MS = 250
const TAKE_UP_MS = 1_000
/** The most open runs: chaos is not a load test. */
const OPEN_MAX = 50
const STARTING_MAX = 20
const WORKFLOWS = [
  { name: 'transfer', weight: 1 },
  { name: 'order', weight: 1 },
  { name: 'patient', weight: 1 },
  { name: 'gallery', weight: 3 },
  { name: 'checkout', weight: 3 },
  { name: 'errand', weight: 3 },
  { name: 'edits', weight: 2 },
  { name: 'notices', weight: 2 },
  { name: 'rows', weight: 2 },
] as const

// An application's process that starts runs and sends signals over its own Pool, and never works.
const pace = { open: 0, version: 'v1' as Version, finish: false }
const { setup, say } = openChannel<TriggerSetup>((command) => {
  if (command.type === 'pace') Object.assign(pace, command)
  if (command.type === 'exhaust') void exhaust(pool, POOL_MAX, command.ms)
  if (command.type === 'start') void take(command.key)
  if (command.type === 'leave') process.exit(0)
})

const random = new Random(setup.seed)
const pool = new pg.Pool({ connectionString: setup.url, max: POOL_MAX })
pool.on('error', () => {})
// As a careful application does: a connection may break before its borrower can listen.
pool.on('connect', (client) => client.on('error', () => {}))
const world = new World(setup.worldUrl, setup.name)
const workflows = makeWorkflows(new Hands(world))
const engine = createEngine({
  adapter: postgres(pool, { listen: false, queryTimeoutMs: QUERY_TIMEOUT_MS }),
  workflows: Object.values(workflows),
  name: setup.name,
})
const calls = new Calls(say)
const companion = new Companion({ engine, pool, world, calls, random })
const starter = new Starter({ engine, pool, world, workflows, calls, onStarted: companion.accompany })

let number = 0
/** The newest lot of each workflow. */
const lots = new Map<string, number>()
let allowance = 0
let tookUpAt = 0
if (setup.burst) await burst()
say({ type: 'ready' })
setInterval(() => say({ type: 'started', runs: starter.started, failures: calls.failures }), TELL_MS)
if (!setup.burst) {
  await companion.resumeAll()
  await takeUp()
  setInterval(() => void startSome(), LOOK_MS)
}

/** Starts as many new runs as the pace allows. */
async function startSome(): Promise<void> {
  if (pace.finish) return finish()
  if (pace.open > OPEN_MAX || starter.underWay > STARTING_MAX) return
  allowance = Math.min(5, allowance + (setup.startsPerSecond * LOOK_MS) / 1_000)
  while (allowance >= 1) {
    const intents = drawIntents()
    allowance -= intents.length
    await writeIntents(world.pool, intents)
    void starter.carryOut(intents)
  }
}

/** Takes up intents that earlier or parallel processes left open. */
async function takeUp(): Promise<void> {
  tookUpAt = performance.now()
  for (const intent of await openIntents(world.pool)) void starter.carryOut([intent])
}

async function finish(): Promise<void> {
  companion.finish()
  if (performance.now() - tookUpAt > TAKE_UP_MS) await takeUp()
}

/** The documented pattern in a fresh process, more often at once than there are connections. */
async function burst(): Promise<void> {
  const intents = Array.from({ length: 2 * POOL_MAX }, () => drawIntent('tx'))
  await writeIntents(world.pool, intents)
  for (const intent of intents) void starter.carryOut([intent])
}

async function take(key: string): Promise<void> {
  const intent = await findIntent(world.pool, key)
  if (intent !== undefined) await starter.carryOut([intent])
}

function drawIntents(): readonly Intent[] {
  const kind = random.weighted([
    { kind: 'run', weight: 6 },
    { kind: 'tx', weight: 2 },
    { kind: 'many', weight: 1 },
    { kind: 'rollback', weight: 1 },
  ] as const).kind
  const first = drawIntent(kind)
  if (kind !== 'many') return [first]
  const rest = Array.from({ length: 3 }, () => ({
    ...first,
    ...nextCall(first.workflow),
  }))
  return [first, ...rest]
}

function drawIntent(kind: IntentKind): Intent {
  const workflow = random.weighted(WORKFLOWS).name
  const version = workflow === 'order' && pace.version === 'both' && random.chance(0.7) ? 2 : 1
  return { ...nextCall(workflow), workflow, version, kind }
}

function nextCall(workflow: Intent['workflow']): Pick<Intent, 'key' | 'input'> {
  const [key, input] = [nextKey(), nextInput(workflow)]
  return { key, input: isCollecting(workflow) ? { ...input, call: key } : input }
}

function nextInput(workflow: Intent['workflow']): Input {
  const lot = (lots.get(workflow) ?? random.between(0, 100)) + 1
  lots.set(workflow, lot)
  const isPlanned = workflow === 'gallery' || workflow === 'checkout' || workflow === 'errand'
  return drawInput(random, { accounts: ACCOUNTS, lot, isPlanned })
}

function nextKey(): string {
  number += 1
  return `${setup.name}-${String(number).padStart(6, '0')}`
}
