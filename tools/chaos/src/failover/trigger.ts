import { BelayError, createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { pause } from '../pause.ts'
import { type Flow, flow } from './load.ts'
import { say, setupOf, type Told } from './protocol.ts'

// A process without a worker, which starts runs and awaits each.
process.on('disconnect', () => process.exit(1))
const { url, workflows } = setupOf()
const engine = createEngine({ adapter: postgres(url) })
const flows = new Map<string, Flow>()
let isResting = false

const add = (name: string) =>
  flows.set(
    name,
    flow(name, () => {}),
  )
for (const name of workflows) add(name)
process.on('message', (told: Told) => {
  if (told.type === 'rest') isResting = true
  else add(told.workflow)
})

const codeOf = (error: unknown): string => (BelayError.is(error) ? error.code : String(error))

async function startOne(workflow: Flow, takesMs: number): Promise<void> {
  const { name } = workflow
  try {
    const run = await engine.run(workflow, { of: name, takesMs })
    say({ type: 'started', workflow: name, runId: run.id })
    const how = await run
      .result()
      .then(
        ({ limited }) => (limited === name ? 'completed' : `completed with the input of ${limited}`),
        codeOf,
      )
    say({ type: 'ended', workflow: name, runId: run.id, how })
  } catch (error) {
    say({ type: 'refused', workflow: name, code: codeOf(error) })
  }
}

say({ type: 'ready' })
const EVERY_MS = 60
/** Every so many runs one takes long, so that it goes on when the server is killed. */
const SLOW_EVERY = 5
const SLOW_MS = 2_500
/** The most runs that are awaited at once: a slow machine must not pile up runs. */
const OPEN_MAX = 40
let count = 0
let open = 0
while (!isResting) {
  for (const workflow of [...flows.values()]) {
    while (open >= OPEN_MAX) await pause(EVERY_MS)
    count += 1
    open += 1
    void startOne(workflow, count % SLOW_EVERY === 0 ? SLOW_MS : 0).finally(() => {
      open -= 1
    })
    await pause(EVERY_MS)
  }
}
