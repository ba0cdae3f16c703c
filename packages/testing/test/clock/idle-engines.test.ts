import { createEngine, define, type Engine, type EngineOptions } from '@belay/workflow'
import type { Adapter, Clock, Recurrence, Timer } from '@belay/workflow/adapter'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memory, VirtualClock } from '../../src/index.ts'
import { changed, gate, StoppableClock } from '../engine/bench-of-engines.ts'

/** Counts the timers that were set, so also those that fired. */
class CountingClock extends VirtualClock {
  set = 0
  override after(delayMs: number, fire: () => void, recurrence?: Recurrence): Timer {
    this.set += 1
    return super.after(delayMs, fire, recurrence)
  }
}

function store() {
  const clock = new CountingClock()
  const adapter = memory({ clock })
  const worker = async (options: Partial<EngineOptions>): Promise<Engine> => {
    const engine = createEngine({ adapter, random: () => 0.5, ...options })
    await engine.start()
    onTestFinished(async () => {
      if (options.clock === undefined) await clock.runUntil(engine.stop({ timeout: 0 }), { limit: '1h' })
    })
    return engine
  }
  return { clock, adapter, worker }
}

/** Takes some turns of the event loop, like reading a file. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const idle = define('idle', { version: 1 }).step('work', { run: () => 'done' })

describe('virtual time with engines that have nothing to do', () => {
  test('a year of three idle workers fires no timer but the renewals at its end', async () => {
    const { clock, worker } = store()
    for (let n = 0; n < 3; n += 1) await worker({ workflows: [idle] })
    await clock.advance('1m')
    const before = clock.set

    await clock.advance('365d')

    expect(clock.set - before).toBeLessThan(20)
  })

  test('a month of waiting fires a few timers for each thing that happens', async () => {
    const { clock, worker } = store()
    let attempts = 0
    let checks = 0
    const month = define('month', { version: 1 })
      .step('pay', {
        retry: { attempts: 8, backoff: 'exponential', initial: '1s', max: '10m' },
        run: () => {
          attempts += 1
          if (attempts < 7) throw new Error('busy')
        },
      })
      .sleep('coolOff', { dependsOn: ['pay'], for: '7d' })
      .approval('review', {
        dependsOn: ['coolOff'],
        timeout: '7d',
        onTimeout: { output: { approved: false } },
      })
      .poll('delivered', {
        dependsOn: ['review'],
        every: '6h',
        until: () => {
          checks += 1
          return checks === 40
        },
      })
      .sleep('wait', { dependsOn: ['delivered'], for: '6d' })
    const engine = await worker({ workflows: [month] })
    const before = clock.set

    await clock.runUntil((await engine.run(month)).result())

    expect(clock.now()).toBeGreaterThan(Date.UTC(2025, 0, 29))
    expect({ attempts, checks }).toEqual({ attempts: 7, checks: 40 })
    expect(clock.set - before).toBeLessThan(50 * 15)
  })

  test('before time leaps, a handler gets a moment for real work', async () => {
    const { clock, worker } = store()
    const working = define('working', { version: 1 }).step('work', {
      timeout: '1h',
      retry: false,
      run: () => turns(50),
    })
    const engine = await worker({ workflows: [working] })
    const run = await engine.run(working)

    await clock.advance('30m')

    expect((await run.status()).status).toBe('completed')
  })

  test('a leap loses no lease: workers keep their ids, and their steps', async () => {
    const { clock, worker } = store()
    const lost: unknown[] = []
    const end = gate()
    const workflow = define('long', { version: 1 }).step('work', {
      run: async () => {
        await end.passed
        return 'done'
      },
    })
    const workers = [
      await worker({ workflows: [workflow], lease: '100ms' }),
      await worker({ workflows: [workflow], lease: '1d' }),
      await worker({ workflows: [workflow] }),
    ]
    for (const engine of workers) {
      engine.on('lease.lost', (event) => lost.push(event))
      engine.on('worker.lost', (event) => lost.push(event))
    }
    const run = await workers[0]!.run(workflow)
    const ids = (await workers[0]!.workers.list()).map(({ id }) => id)

    await clock.advance('90d')
    end.open()
    const result = await clock.runUntil(run.result())

    expect(result).toEqual({ work: 'done' })
    expect((await run.status()).steps[0]).toMatchObject({ attempts: 1, losses: 0 })
    expect((await workers[0]!.workers.list()).map(({ id }) => id)).toEqual(ids)
    expect(lost).toEqual([])
  })

  test('a dead worker loses its step within its lease and a moment, also if time leaps', async () => {
    const { clock, worker } = store()
    let calls = 0
    const workflow = define('dying', { version: 1 }).step('work', {
      run: () => {
        calls += 1
        return calls === 1 ? new Promise<number>(() => {}) : calls
      },
    })
    const stopped = new StoppableClock(clock)
    const dying = await worker({ workflows: [workflow], clock: stopped, lease: '30s' })
    const run = await dying.run(workflow)
    const living = await worker({ workflows: [workflow] })
    await clock.advance('1m')
    stopped.stop()
    const diedAt = clock.now()

    await clock.runUntil(living.runs.handle(run.id).result())

    expect(calls).toBe(2)
    expect(clock.now() - diedAt).toBeGreaterThan(20_000)
    expect(clock.now() - diedAt).toBeLessThan(34_000)
  })

  test('an adapter with a replaced verb is asked as often as ever', async () => {
    const { clock, adapter, worker } = store()
    let renewals = 0
    const { renew } = adapter
    await worker({ workflows: [idle] })
    adapter.renew = (renewal) => {
      renewals += 1
      return renew(renewal)
    }

    await clock.advance('100s')

    expect(renewals).toBe(10)
  })

  test('a worker whose renewals begin to fail while it is idle is declared dead', async () => {
    const { clock, adapter, worker } = store()
    const lost: string[] = []
    await worker({ workflows: [idle] })
    const other = createEngine({ adapter: adapter.connect(), workflows: [idle] })
    other.on('worker.lost', ({ workerId }) => lost.push(workerId))
    await other.start()
    await clock.advance('1h')

    adapter.renew = () => new Promise(() => {})
    await clock.advance('45s')

    expect(lost).toHaveLength(1)
    await other.stop()
  })

  test.each(['3d', '100ms'] as const)(
    'another process’s cancellation reaches a handler that has run for %s',
    async (age) => {
      const { clock, adapter, worker } = store()
      const signalled: number[] = []
      const workflow = define('endless', { version: 1 }).step('work', {
        run: ({ signal }) =>
          new Promise<void>((_, reject) => {
            signal.addEventListener('abort', () => {
              signalled.push(clock.now())
              reject(signal.reason)
            })
          }),
      })
      const engine = await worker({ workflows: [workflow] })
      // The next look for stopped runs comes when the younger handler is too young to be asked about.
      await clock.advance('600ms')
      const run = await engine.run(workflow)
      await clock.advance(age)
      const cancelledAt = clock.now()
      // Another process: it does not tell this one.
      await createEngine({ adapter: changed(adapter, { wake: () => {} }) })
        .runs.handle(run.id)
        .cancel()

      await clock.advance('5s')

      expect(signalled).toHaveLength(1)
      expect(signalled[0]! - cancelledAt).toBeLessThanOrEqual(1_500)
    },
  )

  test('what an engine sees, and when, is what it sees if every look is made', async () => {
    const skipping = await eventsOf((adapter) => adapter)
    const looking = await eventsOf((adapter) => changed(adapter, {}))

    expect(skipping.length).toBeGreaterThan(20)
    expect(skipping).toEqual(looking)
  })
})

/** Each step's start and end with its instant, of a run with every kind of wait. */
async function eventsOf(wrap: (adapter: Adapter) => Adapter): Promise<readonly string[]> {
  const clock = new VirtualClock()
  const engine = createEngine({
    adapter: wrap(memory({ clock })),
    clock: clock as Clock,
    workflows: [waiting],
    random: () => 0.5,
  })
  const events: string[] = []
  const note = (name: string) => (event: { step?: string; runId?: string }) =>
    events.push(`${clock.now()} ${name} ${event.step ?? ''}`)
  for (const name of [
    'step.started',
    'step.completed',
    'step.retrying',
    'run.completed',
    'run.failed',
  ] as const)
    engine.on(name as 'step.started', note(name) as never)
  await engine.start()
  const run = await engine.run(waiting, undefined, { startAt: new Date(clock.now() + 12_345) })
  await clock.advance('40m')
  await run.signal('shipped', { code: 1 })
  await clock.runUntil(run.result(), { limit: '3h' })
  const late = await engine.run(waiting, undefined, { deadline: '10m' })
  await clock.runUntil(
    late.result().catch(() => {}),
    { limit: '3h' },
  )
  await clock.runUntil(engine.close({ timeout: 0 }))
  return events
}

let fails = 0
let polls = 0

const waiting = define('waiting', { version: 1 })
  .step('flaky', {
    retry: { attempts: 6, backoff: 'exponential', initial: '2s', max: '1m' },
    run: () => {
      fails += 1
      if (fails % 5 !== 0) throw new Error('not yet')
      return 'ok'
    },
    compensate: () => {},
  })
  .sleep('pause', { dependsOn: ['flaky'], for: '17m' })
  .waitForSignal('shipped', { timeout: '50m' })
  .poll('ready', {
    dependsOn: ['pause'],
    every: '7s',
    timeout: '1h',
    until: () => {
      polls += 1
      return polls % 20 === 0 ? polls : undefined
    },
  })
