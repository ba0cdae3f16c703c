import { createEngine, define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/index.ts'

const sleeping = define('sleeping', { version: 1 })
  .sleep('night', { for: '8h' })
  .step('work', {
    dependsOn: ['night'],
    run: () => 'done',
  })

describe('awaiting a run while nobody moves virtual time', () => {
  it('fails with a sentence that says what to call, and the run can be awaited again', async () => {
    const adapter = memory()
    const { clock } = adapter
    const engine = createEngine({ adapter, workflows: [sleeping] })
    await engine.start()
    const run = await engine.run(sleeping)
    const stranded = await createEngine({ adapter }).run(
      define('stranded', { version: 1 }).waitForSignal('go', {}),
    )

    const waits = await Promise.allSettled([
      run.result(),
      run.step('work'),
      run.watch()[Symbol.asyncIterator]().next(),
      (async () => {
        for await (const _ of run.watch());
      })(),
      stranded.result(),
    ])

    const refused = {
      status: 'rejected',
      reason: expect.objectContaining({
        code: 'time_stands_still',
        message: expect.stringMatching(
          /stands at 2025-01-01.*nobody moves it. Await it with `await clock.runUntil\(run.result\(\)\)`, or move time/,
        ),
      }),
    }
    expect(waits).toEqual([
      refused,
      refused,
      { status: 'fulfilled', value: expect.objectContaining({ done: false }) },
      refused,
      refused,
    ])
    expect(await clock.runUntil(run.result())).toEqual({ night: undefined, work: 'done' })
    await clock.runUntil(engine.close())
  })

  it('does not fail while a handler runs, or while time is moved, however often', async () => {
    const adapter = memory()
    const { clock } = adapter
    const real = define('real', { version: 1 }).step('work', {
      // biome-ignore lint/style/noRestrictedGlobals: work that takes longer, in real time, than the clock waits for anybody to move it.
      run: () => new Promise<string>((resolve) => setTimeout(resolve, 2_500, 'done')),
    })
    const engine = createEngine({ adapter, workflows: [real, sleeping] })
    await engine.start()

    const run = await engine.run(real)
    const asleep = (await engine.run(sleeping)).result()

    expect(await run.result()).toEqual({ work: 'done' })
    expect(await clock.runUntil(asleep)).toEqual({ night: undefined, work: 'done' })
    await clock.runUntil(engine.close())
  })
})
