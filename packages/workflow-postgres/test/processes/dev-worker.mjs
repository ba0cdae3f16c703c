// A worker in development mode for the test beside it, as a watcher restarts it: on an empty database, with the code that SHAPE names. Prints what
// happens on stdout, one JSON line each.
import { createEngine, define, stopOnSignals } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'

const { DATABASE_URL, SHAPE, HANGS } = process.env
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const before = define('order', { version: 1 }).step('pack', {
  run: () => {
    say({ call: 'pack' })
    return HANGS === 'yes' ? new Promise(() => {}) : 'packed'
  },
})
const order = SHAPE === 'after' ? before.step('ship', { dependsOn: ['pack'], run: () => 'shipped' }) : before

const engine = createEngine({
  adapter: postgres(DATABASE_URL),
  workflows: [order],
  dev: true,
  // Stdout is for the lines that the test reads.
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
engine.on('step.recovered', ({ step, runId }) => say({ event: 'step.recovered', step, id: runId }))
engine.on('run.completed', ({ runId }) => say({ event: 'run.completed', id: runId }))
await engine.start()
const run = await engine.run(order)
say({ event: 'run', id: run.id })
stopOnSignals(engine, process, { timeout: '2s' })
