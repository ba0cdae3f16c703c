import { define, StoreUnavailableError } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { changed, engines, gate } from './bench-of-engines.ts'

const one = define('one', { version: 1 }).step('a', { run: () => 1 })
const two = define('two', { version: 1 })
  .step('a', { run: () => 1 })
  .step('b', { run: () => 2 })

describe('a run that is started in a worker’s process', () => {
  it('is taken on in the same call: without a claim, and without waking another worker', async () => {
    const { adapter, clock, worker } = engines()
    const made = await worker({ workflows: [two] })
    await clock.advance('10ms')
    const [claim, wake] = [vi.spyOn(adapter, 'claim'), vi.spyOn(adapter, 'wake')]

    const run = await made.run(two)

    expect(await clock.runUntil(run.result())).toEqual({ a: 1, b: 2 })
    expect(claim).not.toHaveBeenCalled()
    expect(wake).not.toHaveBeenCalled()
  })

  it('does not overtake steps that wait in the queue', async () => {
    const { clock, engine, worker } = engines()
    const order: number[] = []
    const stall = gate()
    const busy = define('busy', { version: 1 }).step('a', { run: () => stall.passed })
    const noted = define('noted', { version: 1, input: z.number() }).step('a', {
      run: ({ input }) => order.push(input),
    })
    const made = await worker({ workflows: [busy, noted], concurrency: 1 })
    await clock.advance('10ms')
    await made.run(busy)
    await engine().run(noted, 1)
    // Both wait for the only slot.
    await made.run(noted, 2)
    stall.open()
    await clock.advance('1s')
    await made.run(noted, 3)
    await clock.advance('1s')

    expect(order).toEqual([1, 2, 3])
  })

  it('is queued if the worker has no room, or leaves', async () => {
    const { adapter, clock, worker } = engines()
    const made = await worker({ workflows: [two], concurrency: 1 })
    await clock.advance('10ms')

    const wide = await made.run(two)
    expect(await clock.runUntil(wide.result())).toEqual({ a: 1, b: 2 })

    await made.stop()
    const late = await made.run(two)
    expect((await late.status()).steps.map(({ status }) => status)).toEqual(['ready', 'ready'])
    expect(adapter.dump().runs).toHaveLength(2)
  })

  it('is left to others if the worker doesn’t have its version', async () => {
    const { clock, worker } = engines()
    const made = await worker({ workflows: [one] })
    await clock.advance('10ms')

    const run = await made.run(two)
    await clock.advance('1s')

    expect((await run.status()).steps.map(({ status }) => status)).toEqual(['ready', 'ready'])
  })

  it('begins later if it has a start time, and its deadline is kept', async () => {
    const { clock, worker } = engines()
    const never = define('never', { version: 1 }).step('a', { run: () => new Promise(() => {}) })
    const made = await worker({ workflows: [one, never] })
    await clock.advance('10ms')

    const later = await made.run(one, undefined, { delay: '5s' })
    const bounded = await made.run(never, undefined, { deadline: '300ms' })
    await clock.advance('400ms')

    expect((await later.status()).status).toBe('scheduled')
    expect((await bounded.status()).status).toBe('compensating')
    await clock.advance('5s')
    expect((await later.status()).status).toBe('completed')
  })

  it('is one run even if the answer is lost, and its steps run once', async () => {
    const { adapter, clock, worker } = engines()
    let calls = 0
    const counted = define('counted', { version: 1 }).step('a', { run: () => (calls += 1) })
    let lost = 0
    const losing = changed(adapter, {
      async startRuns(runs, options) {
        const started = await adapter.startRuns(runs, options)
        if (lost > 0) return started
        lost += 1
        throw new StoreUnavailableError('the answer was lost')
      },
    })
    const made = await worker({ adapter: losing, workflows: [counted] })
    await clock.advance('10ms')

    const run = await clock.runUntil(made.run(counted))

    expect(await clock.runUntil(run.result(), { limit: '10s' })).toEqual({ a: 1 })
    expect(lost).toBe(1)
    expect(calls).toBe(1)
    expect((await run.status()).steps[0]).toMatchObject({ attempts: 1, losses: 0 })
  })

  it('is released if the worker leaves: the worker waits for the answer before it deregisters', async () => {
    const { adapter, clock, engine, worker } = engines()
    const stall = gate()
    const slow = changed(adapter, {
      async startRuns(runs, options) {
        const started = await adapter.startRuns(runs, options)
        await stall.passed
        return started
      },
    })
    const made = await worker({ adapter: slow, workflows: [one] })
    await clock.advance('10ms')

    const starting = made.run(one)
    const stopping = made.stop()
    await clock.advance('1s')
    stall.open()
    await clock.runUntil(stopping)
    const run = await starting

    const [step] = (await engine().runs.handle(run.id).status()).steps
    expect(step).toMatchObject({ status: 'ready', losses: 0, failures: 0 })
    expect(adapter.dump().workers).toEqual([])
  })
})
