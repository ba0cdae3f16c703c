import { randomUUID } from 'node:crypto'
import { createEngine, define, type Engine, type RunHandle } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'

const NO_RUN = '01890a5d-ac96-774b-bcce-b302099a8057'

/** What the rows use: an engine that runs nothing, and one of its runs. */
export interface World {
  readonly adapter: Adapter
  readonly engine: Engine
  /** A new one for each row. */
  run: RunHandle
  /** A handle on it by its key. */
  keyed: RunHandle
  /** The id of a worker that does not exist. */
  readonly workerId: string
}

export const hostileWorkflow = define('hostile', { version: 1 })
  .step('work', { run: () => 1, compensate: () => {}, concurrency: { name: 'hostile', limit: 100 } })
  .waitForSignal('paid')
  .approval('ok', { dependsOn: ['work'] })

/** The workflow's next version. */
export const nextWorkflow = define('hostile', { version: 2 })
  .step('work', { run: () => 1, compensate: () => {} })
  .waitForSignal('paid')
  .approval('ok', { dependsOn: ['work'] })
  .step('more', { run: () => 1 })

export const collectingWorkflow = define('collecting', {
  version: 1,
  start: { batch: { max: 2, within: '1s' }, key: 'key' },
}).step('work', { run: () => 1 })

export async function openWorld(adapter: Adapter): Promise<World> {
  const engine = createEngine({ adapter, workflows: [hostileWorkflow] })
  return { adapter, engine, workerId: NO_RUN, ...(await startRun(engine)) }
}

export async function renew(world: World): Promise<void> {
  Object.assign(world, await startRun(world.engine))
}

async function startRun(engine: Engine) {
  const key = randomUUID()
  const run = await engine.run(hostileWorkflow, undefined, { key })
  return { run, keyed: engine.runs.handle({ workflow: 'hostile', key }) as unknown as RunHandle }
}
