import { define, type Engine } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, statuses } from './bench-of-engines.ts'

/** Two steps that begin together if there is room for both. Each owes its undo once its handler has begun. */
function workflowWith(undone: string[], passed: Promise<void>) {
  const undo = (name: string) => () => {
    undone.push(name)
  }
  const policy = { compensateOn: 'started' } as const
  return define('begun', { version: 1 })
    .step('slow', { ...policy, run: () => passed, compensate: undo('slow') })
    .step('next', { ...policy, run: () => passed, compensate: undo('next') })
}

describe('a step with compensateOn: started', () => {
  it('is not undone if it was still queued in the worker when its run stopped', async () => {
    const { clock, worker, sleep } = engines()
    const [undone, slow] = [[] as string[], gate()]
    const workflow = workflowWith(undone, slow.passed)
    const engine = await worker({ workflows: [workflow], concurrency: 1 })
    const begun = firstStarted(engine)

    const run = await engine.run(workflow, undefined)
    const first = await clock.runUntil(begun)
    await run.cancel()
    await clock.runUntil(sleep(1_000))
    slow.open()
    await clock.runUntil(run.result().catch(() => {}))

    expect(undone).toEqual([first])
    expect(statuses(await run.status())[first === 'slow' ? 'next' : 'slow']).toBe('cancelled')
  })

  it('is undone only if its handler began before the worker left', async () => {
    const { clock, worker, sleep } = engines()
    const [undone, slow] = [[] as string[], gate()]
    const workflow = workflowWith(undone, slow.passed)
    const leaving = await worker({ workflows: [workflow], concurrency: 1 })
    const begun = firstStarted(leaving)
    const run = await leaving.run(workflow, undefined)
    const first = await clock.runUntil(begun)

    await clock.runUntil(leaving.stop({ timeout: 100 }))
    await run.cancel()
    await worker({ workflows: [workflow] })
    await clock.runUntil(sleep(60_000), { limit: '1h' })

    expect(undone).toEqual([first])
    slow.open()
  })
})

function firstStarted(engine: Engine): Promise<string> {
  return new Promise((resolve) => {
    engine.on('step.started', ({ step }) => resolve(step))
  })
}
