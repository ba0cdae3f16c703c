import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { everySecond, flow, LEASE } from './load.ts'
import { say, setupOf } from './protocol.ts'

// A worker process. It ends with the process that made it.
process.on('disconnect', () => process.exit(1))
const { url, workflows } = setupOf()
const flows = workflows.map((name) => flow(name, (effect) => say({ type: 'effect', effect })))
const engine = createEngine({
  adapter: postgres(url),
  workflows: flows,
  schedules: flows.map(everySecond),
  lease: LEASE,
})
engine.on('store.notice', ({ code }) => {
  if (code === 'store_went_back') say({ type: 'went-back' })
})
await engine.start()
say({ type: 'ready' })
