import { define, type RunHandle, unchecked } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { engines, gate } from './bench-of-engines.ts'

const QUICK = 200
const SLOW = 20

/** A workflow whose handlers take no time, and one whose handlers wait for the gate and note which worker called them. */
function workflows() {
  const { passed, open } = gate()
  let [running, most] = [0, 0]
  const quick = define('quick', { version: 1 }).step('a', { run: () => 1 })
  const slow = define('slow', { version: 1 }).step('a', {
    run: async () => {
      running += 1
      most = Math.max(most, running)
      await passed
      running -= 1
      return 2
    },
  })
  return { quick, slow, open, most: () => most, running: () => running }
}

/** How many of the runs' steps a worker holds. */
async function leasedOf(runs: readonly RunHandle[]): Promise<number> {
  const states = await Promise.all(runs.map((run) => run.status()))
  return states.flatMap(({ steps }) => steps).filter(({ status }) => status === 'running').length
}

const times = (count: number) => Array.from({ length: count }, () => ({}))

describe('a worker whose handlers have been quick', () => {
  it('leases steps ahead of its slots, and runs no more handlers at once than it has slots', async () => {
    const { clock, worker } = engines()
    const { quick, slow, open, most } = workflows()
    const made = await worker({ workflows: [quick, slow], concurrency: 2 })
    await made.runMany(quick, times(QUICK))
    await clock.advance('10ms')

    const started = await made.runMany(slow, times(SLOW))
    await clock.advance('10ms')
    const leased = await leasedOf(started)
    open()
    await clock.runUntil(Promise.all(started.map((run) => run.result())))

    expect(leased).toBeGreaterThan(2)
    expect(most()).toBe(2)
  })

  it('gives back what waits behind slow handlers, so that an idle worker begins it', async () => {
    const { clock, worker, engine } = engines()
    const { quick, slow, open, running } = workflows()
    const first = await worker({ workflows: [quick, slow], concurrency: 2 })
    await first.runMany(quick, times(QUICK))
    await clock.advance('10ms')
    const started = await engine().runMany(slow, times(SLOW))
    await clock.advance('50ms')
    const alone = running()

    const second = await worker({ workflows: [slow], concurrency: SLOW })
    // Two looks at what waits, 200 ms apart, and a tick.
    await clock.advance('1s')
    const together = running()
    const states = await Promise.all(started.map((run) => run.status()))
    open()
    await clock.runUntil(Promise.all(started.map((run) => run.result())))

    expect(alone).toBe(2)
    expect(together).toBe(SLOW)
    // It counts as no failure and no loss.
    const steps = states.flatMap((state) => state.steps)
    expect(steps.every(({ failures, losses }) => failures === 0 && losses === 0)).toBe(true)
    await second.stop()
  })

  it('reads large payloads for no more steps in advance than it has slots', async () => {
    const { clock, adapter, worker, engine } = engines()
    const { quick } = workflows()
    const { passed, open } = gate()
    const large = define('large', { version: 1, input: unchecked<string>() }).step('a', {
      run: async ({ input }) => {
        await passed
        return input.length
      },
    })
    const made = await worker({ workflows: [quick, large], concurrency: 2 })
    await made.runMany(quick, times(QUICK))
    await clock.advance('10ms')
    const load = vi.spyOn(adapter, 'load')

    const inputs = times(SLOW).map((_, n) => ({ input: `${n}`.repeat(5_000) }))
    const started = await engine().runMany(large, inputs)
    await clock.advance('10ms')
    const leased = await leasedOf(started)
    const read = new Set(load.mock.calls.flatMap(([requests]) => requests.map(({ runId }) => runId))).size
    open()
    const lengths = await clock.runUntil(Promise.all(started.map((run) => run.result())))

    expect(leased).toBe(SLOW)
    expect(read).toBe(4)
    expect(lengths.map(({ a }) => a)).toEqual(inputs.map(({ input }) => input.length))
  })

  it('leases one step at a time if it has one slot', async () => {
    const { clock, worker, engine } = engines()
    const { quick, slow, open } = workflows()
    const made = await worker({ workflows: [quick, slow], concurrency: 1 })
    await made.runMany(quick, times(QUICK))
    await clock.advance('10ms')

    const started = await engine().runMany(slow, times(SLOW))
    await clock.advance('1s')
    const leased = await leasedOf(started)
    open()
    await clock.runUntil(Promise.all(started.map((run) => run.result())))

    expect(leased).toBe(1)
  })
})
