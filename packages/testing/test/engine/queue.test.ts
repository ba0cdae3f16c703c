import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const plain = define('plain', { version: 1 }).step('work', { run: () => 1 })

describe('the overview of the queue', () => {
  it('shows an empty store', async () => {
    const { engine } = engines()

    expect(await engine().queue()).toEqual({
      readAt: expect.any(Date),
      ready: { count: 0, capped: false, oldestDueAt: undefined, oldestAgeMs: 0 },
      parkedUndos: { count: 0, capped: false },
      liveRuns: {},
    })
  })

  it('counts ready steps and live runs, and tells how long the oldest step has been due', async () => {
    const { clock, engine } = engines()
    const made = engine()
    await made.run(plain, undefined)
    await clock.advance('1m')
    await made.run(plain, undefined)
    await made.run(plain, undefined, { delay: '1h' })

    const { readAt, ready, liveRuns } = await made.queue()

    expect(ready).toEqual({
      count: 2,
      capped: false,
      oldestDueAt: new Date(readAt.getTime() - 60_000),
      oldestAgeMs: 60_000,
    })
    expect(liveRuns).toEqual({
      running: { count: 2, capped: false },
      scheduled: { count: 1, capped: false },
    })
  })

  it('counts runs whose undo failed for good', async () => {
    const { clock, worker } = engines()
    const stuck = define('stuck', { version: 1 })
      .step('charge', {
        run: () => 1,
        compensate: () => {
          throw new Error('refused')
        },
      })
      .step('ship', {
        dependsOn: ['charge'],
        retry: false,
        run: () => {
          throw new Error('no')
        },
      })
    const made = await worker({ workflows: [stuck] })
    await made.run(stuck, undefined)
    await clock.advance('1d')

    const { parkedUndos, ready } = await made.queue()

    expect(parkedUndos).toEqual({ count: 1, capped: false })
    expect(ready.count).toBe(0)
  })

  it('stops counting at a thousand', async () => {
    const { engine } = engines()
    const made = engine()
    for (let n = 0; n < 2; n += 1)
      await made.runMany(
        plain,
        Array.from({ length: 600 }, () => ({ input: undefined })),
      )

    const { ready, liveRuns } = await made.queue()

    expect(ready).toMatchObject({ count: 1_000, capped: true })
    expect(liveRuns.running).toEqual({ count: 1_000, capped: true })
    await made.close()
    await expect(made.queue()).rejects.toMatchObject({ code: 'engine_closed' })
  })
})
