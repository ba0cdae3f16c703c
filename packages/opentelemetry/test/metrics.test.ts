import { memory, VirtualClock } from '@belay/testing'
import { createEngine, define, type Engine, type Workflow } from '@belay/workflow'
import { createNoopMeter, DiagLogLevel, diag } from '@opentelemetry/api'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { Registry } from 'prom-client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { INSTRUMENTS, type Instrument, type InstrumentName } from '../src/metrics/instruments.ts'
import { observeMetrics } from '../src/metrics/otel.ts'
import { metricsHandler } from '../src/prometheus.ts'
import { order, store, worked } from './setup/measured.ts'
import { inRegister, type Series, sorted, valueIn, withSdk } from './setup/readings.ts'

describe('a worker', () => {
  it('is measured with every instrument of the table, with its labels, and alike by both exporters', async () => {
    const register = new Registry()
    let sdk: ReturnType<typeof withSdk> | undefined
    const engine = await worked((own) => {
      sdk = withSdk(own)
      metricsHandler(own, { register })
    })
    const read = async () => [await sdk!.collect(), await inRegister(register)] as const
    // The second label comes to its limit a moment after it was started.
    const [otel, prometheus] = await vi.waitFor(async () => {
      const both = await read()
      expect(valueIn(both[0], 'belay.limit.waiting', { limit: 'printer' })).toBe(1)
      // A reading is several: the queue was read before the line.
      expect(valueIn(both[0], 'belay.queue.ready')).toBe(0)
      return both
    }, 30_000)

    const expected = Object.keys(INSTRUMENTS) as InstrumentName[]
    expect(Object.keys(otel).sort()).toEqual(expected.sort())
    for (const name of expected) {
      for (const { labels } of otel[name]!)
        expect([name, Object.keys(labels).sort()]).toEqual([name, labelsOf(name)])
    }
    expect(sorted(withoutMoments(prometheus))).toEqual(sorted(withoutMoments(otel)))
    expect(total(otel, 'belay.queue.wait')).toBe(total(otel, 'belay.attempt.duration'))

    // Runs.
    const orders = { workflow: 'order', version: '3' }
    expect(valueIn(otel, 'belay.runs.started', orders)).toBe(4)
    expect(valueIn(otel, 'belay.runs.started', { workflow: 'label', version: '1' })).toBe(2)
    expect(valueIn(otel, 'belay.runs.ended', { ...orders, status: 'completed' })).toBe(2)
    expect(valueIn(otel, 'belay.runs.ended', { ...orders, status: 'compensated' })).toBe(1)
    expect(valueIn(otel, 'belay.run.duration', { workflow: 'order', status: 'completed' })).toBe(2)
    // Attempts.
    const outcomes = (step: string, direction = 'forward') =>
      Object.fromEntries(
        otel['belay.attempts.ended']!.filter(
          ({ labels }) => labels['step'] === step && labels['direction'] === direction,
        ).map(({ labels, value }) => [labels['outcome'], value]),
      )
    expect(outcomes('charge')).toEqual({ completed: 4 })
    expect(outcomes('charge', 'undo')).toEqual({ completed: 1, failed: 1 })
    expect(outcomes('reserve')).toEqual({ retrying: 4, completed: 4 })
    // Of each order: three photos, and what opens and closes the map.
    expect(outcomes('resize')).toEqual({ completed: 20 })
    expect(outcomes('shipped')).toEqual({ skipped: 3, waiting: 1, completed: 1 })
    expect(outcomes('close')).toEqual({ completed: 2, failed: 2 })
    expect(valueIn(otel, 'belay.attempt.duration', { step: 'reserve', direction: 'forward' })).toBe(8)
    // What is there now.
    expect(valueIn(otel, 'belay.worker.slots')).toBe(7)
    expect(valueIn(otel, 'belay.worker.busy')).toBe(1)
    expect(valueIn(otel, 'belay.worker.undos.busy')).toBe(0)
    expect(valueIn(otel, 'belay.undos.parked')).toBe(1)
    expect(valueIn(otel, 'belay.runs.live', { status: 'compensation_failed' })).toBe(1)
    expect(valueIn(otel, 'belay.runs.live', { status: 'paused' })).toBe(0)
    expect(valueIn(otel, 'belay.queue.ready')).toBe(0)
    expect(valueIn(otel, 'belay.queue.oldest.age')).toBe(0)
    expect(valueIn(otel, 'belay.workers.live')).toBe(1)
    expect(valueIn(otel, 'belay.workers.lost')).toBe(0)
    expect(valueIn(otel, 'belay.schedules.late')).toBe(0)
    expect(valueIn(otel, 'belay.store.up')).toBe(1)
    expect(valueIn(otel, 'belay.store.outages')).toBe(0)
    expect(otel['belay.store.latency']!.map(({ labels }) => labels['call']).sort()).toEqual([
      'claim',
      'settle',
    ])
    // The customers' photos are nobody's business.
    expect(JSON.stringify([otel, prometheus])).not.toMatch(/png|4711/)

    // Steps that a worker releases when it stops are counted. Then it has no slots.
    await engine.stop({ timeout: 0 })
    const stopped = await sdk!.collect()
    expect(
      valueIn(stopped, 'belay.attempts.ended', { workflow: 'label', step: 'print', outcome: 'released' }),
    ).toBe(1)
    await vi.waitFor(
      async () => expect((await inRegister(register))['belay.worker.slots']).toBeUndefined(),
      5_000,
    )
  })

  it('is measured in seconds', async () => {
    const register = new Registry()
    const engine = (await store())({ workflows: [order] })
    metricsHandler(engine, { register })
    let durationMs = 0
    engine.on('run.ended', (event) => {
      durationMs = event.durationMs
    })
    await engine.start()
    await (await engine.run(order, {})).result()
    await vi.waitFor(() => expect(durationMs).toBeGreaterThan(0), 20_000)
    expect(await register.getSingleMetricAsString('belay_run_duration_seconds')).toContain(
      `belay_run_duration_seconds_sum{workflow="order",status="completed"} ${durationMs / 1_000}`,
    )
  })
})

describe('schedules', () => {
  it('are late a minute after their time, and then not while they are paused', async () => {
    const clock = new VirtualClock()
    const engine = createEngine({ adapter: memory({ clock }), workflows: [order], logger: false })
    onTestFinished(() => engine.close())
    const { collect } = withSdk(engine)
    await engine.run(order, {})
    await engine.schedules.put('hourly', { every: '1h', workflow: order, input: {} })
    await engine.schedules.put('daily', { every: '1d', workflow: order, input: {} })
    const late = async (count: number) =>
      vi.waitFor(async () => expect(valueIn(await collect(), 'belay.schedules.late')).toBe(count), 20_000)
    await clock.advance('61m')
    await late(0)
    await clock.advance('1s')
    await late(1)
    await engine.schedules.pause('hourly')
    await late(0)
  })
})

describe('labels', () => {
  it('have 500 values; further ones are `other`, with one warning', async () => {
    const warnings: string[] = []
    const quiet = () => {}
    diag.setLogger(
      { error: quiet, info: quiet, debug: quiet, verbose: quiet, warn: (text) => warnings.push(text) },
      DiagLogLevel.WARN,
    )
    onTestFinished(() => diag.disable())
    const { engine, steps } = wide(600)
    const { collect } = withSdk(engine)
    await engine.start()
    await (await engine.run(steps, undefined)).result()
    const series = await collect()
    const names = new Set(series['belay.attempts.ended']!.map(({ labels }) => labels['step']))
    expect(names.size).toBe(501)
    expect(valueIn(series, 'belay.attempts.ended', { step: 'other' })).toBe(100)
    expect(total(series, 'belay.attempts.ended')).toBe(600)
    expect(warnings).toEqual([expect.stringContaining('500 values of the label "step"')])
  })

  it('are bounded in a register too, with one warning on the console', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const { engine, steps } = wide(600)
    const register = new Registry()
    metricsHandler(engine, { register })
    await engine.start()
    await (await engine.run(steps, undefined)).result()
    expect(valueIn(await inRegister(register), 'belay.attempts.ended', { step: 'other' })).toBe(100)
    expect(warn).toHaveBeenCalledTimes(1)
  })
})

describe('observeMetrics()', () => {
  it('stops everything with the function that it returned', async () => {
    const { engine, steps } = wide(3)
    const { collect, stop } = withSdk(engine)
    await engine.start()
    await (await engine.run(steps, undefined)).result()
    expect(total(await collect(), 'belay.attempts.ended')).toBe(3)
    stop()
    await (await engine.run(steps, undefined)).result()
    expect(total(await collect(), 'belay.attempts.ended')).toBe(3)
  })

  it('gives the SDK a share of very many durations, chosen by chance, while counters count all', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const adapter = memory()
    const many = define('many', { version: 1 }).map('item', {
      over: () => Array.from({ length: 2_000 }, (_, index) => index),
      run: () => {},
    })
    const engine = createEngine({ adapter, workflows: [many], logger: false })
    onTestFinished(() => engine.close())
    const { collect } = withSdk(engine)
    await engine.start()
    const run = async () => adapter.clock.runUntil((await engine.run(many)).result())

    // A burst in one second: waits and durations of 2,002 attempts.
    await run()
    expect(total(await collect(), 'belay.attempts.ended')).toBe(2_002)
    const burst = recorded(await collect())
    expect(burst).toBe(1_000)

    // The next second knows how many there were.
    vi.advanceTimersByTime(1_000)
    await run()
    expect(total(await collect(), 'belay.attempts.ended')).toBe(4_004)
    const next = recorded(await collect()) - burst
    expect(next).toBeGreaterThan(300)
    expect(next).toBeLessThan(700)
  })

  it('says nothing about the store once the engine was closed', async () => {
    const engine = createEngine({ adapter: memory(), logger: false })
    const { collect } = withSdk(engine)
    await engine.close()
    const series = await collect()
    expect(series['belay.store.up']).toBeUndefined()
    expect(valueIn(series, 'belay.store.outages')).toBe(0)
  })

  it('does nothing with a meter without an SDK', async () => {
    const engine = createEngine({ adapter: memory(), logger: false })
    const on = vi.spyOn(engine, 'on')
    observeMetrics(engine, createNoopMeter())()
    observeMetrics(engine, createNoopMeter())()
    expect(on).not.toHaveBeenCalled()
  })

  it('refuses what is no engine, what is no meter, and a meter that measures an engine already', () => {
    const meter = new MeterProvider().getMeter('test')
    const engine = createEngine({ adapter: memory(), logger: false })
    const refusal = (call: () => unknown) => {
      try {
        call()
      } catch (error) {
        return error
      }
      return undefined
    }
    expect(refusal(() => observeMetrics(undefined as unknown as Engine, meter))).toMatchObject({
      code: 'invalid_option',
      message: 'observeMetrics(): the engine must be what createEngine() returned; got undefined.',
    })
    expect(refusal(() => observeMetrics(engine, {} as typeof meter))).toMatchObject({
      code: 'invalid_option',
    })
    const stop = observeMetrics(engine, meter)
    expect(refusal(() => observeMetrics(engine, meter))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('this meter measures an engine already'),
    })
    stop()
    expect(refusal(() => observeMetrics(engine, meter))).toBeUndefined()
  })
})

/** An engine on a store in memory, with a workflow of many steps. */
function wide(width: number) {
  let steps = define('wide', { version: 1 }) as Workflow<string, unknown, Readonly<Record<string, unknown>>>
  for (let n = 0; n < width; n += 1) steps = steps.step(`step${n}`, { run: () => n })
  const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [steps], logger: false })
  onTestFinished(() => engine.close())
  return { engine, steps }
}

function labelsOf(name: InstrumentName): readonly string[] {
  const { labels }: Instrument = INSTRUMENTS[name]
  return [...labels].sort()
}

/** Without values that differ from one look to the next. */
function withoutMoments(series: Series): Series {
  const {
    'belay.store.latency': _,
    'belay.settle.batch': __,
    'nodejs.eventloop.delay.p99': ___,
    ...rest
  } = series
  return rest
}

function total(series: Series, name: InstrumentName): number {
  return (series[name] ?? []).reduce((sum, { value }) => sum + value, 0)
}

/** How many durations the SDK has got. */
function recorded(series: Series): number {
  return ['belay.run.duration', 'belay.attempt.duration', 'belay.queue.wait'].reduce(
    (sum, name) => sum + total(series, name as InstrumentName),
    0,
  )
}
