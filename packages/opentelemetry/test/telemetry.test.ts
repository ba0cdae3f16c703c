import { memory } from '@belay/testing'
import { createEngine, define, type Engine, unchecked } from '@belay/workflow'
import { metrics } from '@opentelemetry/api'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTelemetry } from '../src/index.ts'
import { traced } from './setup/traced.ts'

const greet = define('greet', { version: 1 }).step('hello', { run: () => 'hello' })

class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}

  async names(): Promise<readonly string[]> {
    const { resourceMetrics } = await this.collect()
    return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics.map((one) => one.descriptor.name))
  }
}

describe('an SDK that starts after observe()', () => {
  it('has the metrics of an engine that starts later, and each of them once', async () => {
    const adapter = memory()
    const { telemetry, spans } = traced({ clock: adapter.clock })
    const engine = createEngine({ ...telemetry.engineOptions, adapter, workflows: [greet], logger: false })
    onTestFinished(() => engine.close())
    telemetry.observe(engine)
    const reader = new Reader()
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
    onTestFinished(() => metrics.disable())

    await engine.start()
    const run = await engine.run(greet)
    await adapter.clock.runUntil(run.result())
    const names = await reader.names()
    await engine.close()

    expect(names).toContain('belay.runs.ended')
    expect(new Set(names).size).toBe(names.length)
    expect(spans().map(({ name }) => name)).toEqual(['hello', 'greet'])
  })
})

describe('an engine without the hooks', () => {
  it.each([
    ['none', () => ({})],
    ['others', () => ({ around: [(_: unknown, next: () => Promise<void>) => next()] })],
  ])('is told once how to have spans of its steps: %s', async (_, given) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const adapter = memory()
    const { telemetry, spans } = traced({ clock: adapter.clock })
    const engine = createEngine({ ...given(), adapter, workflows: [greet], logger: false })
    onTestFinished(() => engine.close())
    telemetry.observe(engine)
    await engine.start()
    for (const run of await engine.runMany(greet, [{}, {}])) await adapter.clock.runUntil(run.result())
    await engine.close()

    expect(spans().map(({ name }) => name)).toEqual(['greet', 'greet'])
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('createEngine({ ...telemetry.engineOptions })')],
    ])
  })

  it('is told nothing if another worker ran the steps', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const adapter = memory()
    const { telemetry, spans } = traced({ clock: adapter.clock })
    const held = define('held', { version: 1 })
      .step('hello', { run: () => 'hello' })
      .waitForSignal('go', { dependsOn: ['hello'], schema: unchecked<string>() })
    const worker = createEngine({ adapter: adapter.connect(), workflows: [held], logger: false })
    await worker.start()
    const run = await worker.run(held)
    await adapter.clock.advance('1s')
    await worker.close()
    const engine = createEngine({ ...telemetry.engineOptions, adapter, workflows: [held], logger: false })
    onTestFinished(() => engine.close())
    telemetry.observe(engine)
    await engine.start()
    await engine.runs.handle(run.id).signal('go', 'now')
    await adapter.clock.runUntil(engine.runs.handle(run.id).result())
    await engine.close()

    expect(spans().map(({ name }) => name)).toEqual(['held', 'wait go'])
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('what is given wrong', () => {
  const telemetry = createTelemetry()
  const engine = () => createEngine({ ...telemetry.engineOptions, adapter: memory(), logger: false })
  // What JavaScript may give.
  const wrong = (value: unknown) => value as never

  it.each([
    [
      'no engine',
      () => telemetry.observe(wrong(undefined)),
      'must be what createEngine() returned; got undefined.',
    ],
    [
      'no logger',
      () => telemetry.logger(wrong(undefined)),
      'must have debug(), info(), warn() and error(); got undefined.',
    ],
    [
      'half a logger',
      () => telemetry.logger(wrong({ info() {} })),
      'must have debug(), info(), warn() and error(); got another object.',
    ],
    ['no logger, as createEngine() takes it', () => telemetry.logger(wrong(false)), 'got a boolean.'],
    [
      'an unknown option',
      () => createTelemetry(wrong({ clok: 1 })),
      'createTelemetry() has no option "clok". It takes clock.',
    ],
    [
      'no clock',
      () => createTelemetry({ clock: wrong(Date.now) }),
      'createTelemetry(): clock must have now(), as adapter.clock has; got a function.',
    ],
  ])('is refused with a sentence: %s', (_, call, sentence) => {
    expect(call).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(sentence) }),
    )
  })

  it('is refused: to observe an engine twice would export its spans twice', () => {
    const observed: Engine = engine()
    const end = telemetry.observe(observed)

    expect(() => telemetry.observe(observed)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining('is observed already'),
      }),
    )
    end()
    expect(() => telemetry.observe(observed)()).not.toThrow()
  })
})
