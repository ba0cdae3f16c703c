import { define } from '@belay/workflow'
import { type Adapter, ASKING_VERBS, StoreUnavailableError } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { memory, VirtualClock } from '../../src/index.ts'
import { engines, gate } from './bench-of-engines.ts'

/** Handlers that end when they are told to. */
function held() {
  const ends: (() => void)[] = []
  const workflow = define('held', { version: 1 }).step('work', {
    run: () => new Promise<void>((resolve) => ends.push(resolve)),
  })
  return { workflow, endAll: () => ends.splice(0).forEach((end) => void end()) }
}

describe('the gauges of an engine', () => {
  it('show nothing before it has started', () => {
    const { engine } = engines()

    expect(engine({ concurrency: 3 }).gauges()).toEqual({
      state: 'stopped',
      slots: 3,
      busy: 0,
      undoSlots: 1,
      undosBusy: 0,
      waitingForSlots: 0,
      unsentOutcomes: 0,
      batch: { last: 0, max: 0 },
      storeLatencyMs: { settle: undefined, claim: undefined },
      outageSince: undefined,
    })
  })

  it('show handlers that run, what waits for a slot, and the sizes of batches', async () => {
    const { clock, worker } = engines()
    const { workflow, endAll } = held()
    const made = await worker({ workflows: [workflow], concurrency: 2 })
    const runs = await made.runMany(
      workflow,
      Array.from({ length: 5 }, () => ({ input: undefined })),
    )
    await clock.advance(100)

    expect(made.gauges()).toMatchObject({
      state: 'started',
      slots: 2,
      busy: 2,
      undosBusy: 0,
      unsentOutcomes: 0,
    })
    expect(made.gauges().waitingForSlots).toBeLessThanOrEqual(3)

    for (let round = 0; round < 5; round += 1) {
      endAll()
      await clock.advance(1_000)
    }
    for (const run of runs) expect((await run.status()).status).toBe('completed')
    expect(made.gauges()).toMatchObject({ busy: 0, waitingForSlots: 0, batch: { max: 2 } })
    expect(made.gauges().storeLatencyMs).toEqual({ settle: 0, claim: 0 })
  })

  it('count an undo that runs beside full slots apart', async () => {
    const { clock, worker } = engines()
    const { workflow, endAll } = held()
    const { passed, open } = gate()
    let fail = () => {}
    const failing = define('failing', { version: 1 })
      .step('charge', { run: () => 1, compensate: () => passed })
      .step('ship', {
        dependsOn: ['charge'],
        retry: false,
        run: () => new Promise((_, reject) => (fail = () => reject(new Error('no')))),
      })
    const made = await worker({ workflows: [workflow, failing], concurrency: 2 })
    await made.run(failing)
    await clock.advance(1_000)
    for (let n = 0; n < 3; n += 1) await made.run(workflow, undefined)
    await clock.advance(1_000)
    fail()
    await clock.advance(10_000)

    expect(made.gauges()).toMatchObject({ busy: 2, undosBusy: 1 })
    open()
    endAll()
    await clock.advance(1_000)
    expect(made.gauges()).toMatchObject({ undosBusy: 0 })
  })

  it('show a worker that stops until its handlers have ended', async () => {
    const { clock, worker } = engines()
    const { workflow, endAll } = held()
    const made = await worker({ workflows: [workflow] })
    await made.run(workflow, undefined)
    await clock.advance(1_000)

    const stopped = made.stop({ timeout: '1m' })
    await clock.advance(1_000)

    expect(made.gauges()).toMatchObject({ state: 'stopping', busy: 1 })
    endAll()
    await clock.runUntil(stopped, { limit: '1m' })
    expect(made.gauges()).toMatchObject({ state: 'stopped', busy: 0 })
  })

  it('tell since when the store has not answered, until it does', async () => {
    const clock = new VirtualClock()
    const store = memory({ clock })
    let isDown = false
    const adapter = new Proxy(store, {
      get: (_, name) => {
        // A virtual clock would leave out the rounds that find nothing.
        if (name === 'stillness') return undefined
        const value: unknown = Reflect.get(store, name)
        if (typeof value !== 'function') return value
        if (isDown && (ASKING_VERBS as readonly unknown[]).includes(name))
          return async () => {
            throw new StoreUnavailableError('down')
          }
        return value.bind(store)
      },
    }) as unknown as Adapter
    const { worker } = engines()
    const { workflow } = held()
    const made = await worker({ adapter, clock, workflows: [workflow] })
    await clock.advance(5_000)
    expect(made.gauges().outageSince).toBeUndefined()

    isDown = true
    await clock.advance(20_000)
    const since = made.gauges().outageSince
    expect(Date.now() - since!.getTime()).toBeGreaterThan(15_000)

    isDown = false
    await clock.advance(20_000)
    expect(made.gauges().outageSince).toBeUndefined()
    await clock.runUntil(made.stop({ timeout: 0 }), { limit: '1h' })
  })
})
