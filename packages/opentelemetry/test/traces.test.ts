import { runInNewContext } from 'node:vm'
import { memory } from '@belay/testing'
import {
  createEngine,
  define,
  type Engine,
  RetryLaterError,
  unchecked,
  type WorkflowDefinition,
} from '@belay/workflow'
import { trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type Sampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { traced, treeOfRun, treeSpan } from './setup/traced.ts'

async function observed(
  workflows: readonly WorkflowDefinition[],
  given: { readonly sampler?: Sampler } = {},
) {
  const adapter = memory()
  const { telemetry, spans } = traced({ clock: adapter.clock, ...given })
  const engine: Engine = createEngine({ ...telemetry.engineOptions, adapter, workflows, logger: false })
  telemetry.observe(engine)
  await engine.start()
  onTestFinished(() => engine.close())
  const tree = async (runId: string) => {
    await engine.close()
    return treeOfRun(spans(), runId)
  }
  return { engine, clock: adapter.clock, telemetry, spans, tree }
}

const order = define('order', { version: 1, input: unchecked<'fine' | 'declined'>() })
  .step('reserve', { run: () => 'reserved', compensate: () => {} })
  .step('charge', {
    dependsOn: ['reserve'],
    retry: { attempts: 2, initial: '1s', jitter: false },
    run: ({ input, attempt }) =>
      trace.getTracer('a client').startActiveSpan('POST /charges', (span) => {
        span.end()
        if (input === 'declined' || attempt === 1) throw new Error('The card was declined.')
        return 'charged'
      }),
    compensate: () => {},
  })

describe('the trace of a run', () => {
  it('has a span for each attempt, with the handler’s own below it, and a retry leads to the attempt before', async () => {
    const { engine, clock, tree } = await observed([order])
    const run = await engine.run(order, 'fine')
    await clock.runUntil(run.result())

    expect(await tree(run.id)).toEqual([
      'order',
      '  reserve 1',
      '  charge 1 failed: Error',
      '    POST /charges',
      '  charge 2 → retry_of charge',
      '    POST /charges',
    ])
  })

  it('shows a rollback at a glance: its undos stand below a span of their own', async () => {
    const { engine, clock, tree, spans } = await observed([order])
    const run = await engine.run(order, 'declined', { key: 'order:7' })
    await clock.runUntil(run.result().catch(() => {}))

    expect(await tree(run.id)).toEqual([
      'order failed: Error',
      '  reserve 1',
      '  charge 1 failed: Error',
      '    POST /charges',
      '  charge 2 failed: Error → retry_of charge',
      '    POST /charges',
      '  undo',
      '    undo reserve 1',
    ])
    expect(spans().find(({ name }) => name === 'order')?.attributes).toEqual({
      'belay.workflow': 'order',
      'belay.version': 1,
      'belay.run.id': run.id,
      'belay.run.key': 'order:7',
      'belay.run.status': 'compensated',
      'belay.run.stopped_by': 'step_failed',
      'error.type': 'Error',
    })
  })

  it('has what it waits for, for as long as it waits', async () => {
    const shipment = define('shipment', { version: 1 })
      .waitForSignal('shipped', { schema: unchecked<string>() })
      .sleep('coolOff', { dependsOn: ['shipped'], for: '3d' })
      .poll('arrived', {
        dependsOn: ['coolOff'],
        every: '1h',
        until: () => (checks++ < 2 ? undefined : 'arrived'),
      })
    let checks = 0
    const { engine, clock, tree, spans } = await observed([shipment])
    const run = await engine.run(shipment)
    await clock.advance('1d')
    await run.signal('shipped', 'DHL')
    await clock.runUntil(run.result())

    expect(await tree(run.id)).toEqual([
      'shipment',
      '  wait shipped',
      '  wait coolOff',
      '  wait arrived',
      '  arrived 1',
      '  arrived 1',
      '  arrived 1',
    ])
    const hours = (name: string) => {
      const [span] = spans().filter((span) => span.name === name)
      return Math.round((treeSpan(span!).endMs - treeSpan(span!).startMs) / 3_600_000)
    }
    expect([hours('wait shipped'), hours('wait coolOff'), hours('wait arrived')]).toEqual([24, 72, 2])
    expect(hours('shipment')).toBe(98)
  })

  it('has the items of a map below the map, without their keys in any name', async () => {
    const album = define('album', { version: 1 }).map('resize', {
      over: () => Array.from({ length: 50 }, (_, index) => `photo-${index}`),
      itemKey: (photo) => photo,
      retry: { attempts: 2, initial: '1s' },
      run: ({ index, attempt }) => {
        if (index === 49 && attempt === 1) throw new RetryLaterError({ after: '1m' })
        if (index === 49) throw new Error('The photo is damaged.')
        if (index === 7 && attempt === 1) throw new Error('The disk is full.')
      },
      compensate: () => {},
    })
    const { engine, clock, tree, spans } = await observed([album])
    const run = await engine.run(album)
    await clock.runUntil(run.result().catch(() => {}))

    const lines = await tree(run.id)
    expect(lines.slice(0, 2)).toEqual(['album failed: Error', '  resize'])
    expect(counted(lines.slice(2))).toEqual({
      'resize[] 1': 48,
      'resize[] 1 failed: Error': 1,
      'resize[] 1 failed: retry_later': 1,
      'resize[] 2 → retry_of resize[]': 1,
      'resize[] 2 failed: Error → retry_of resize[]': 1,
      undo: 1,
      'undo resize[] 1': 49,
    })
    const damaged = spans().find(({ attributes }) => attributes['belay.item.index'] === 49)
    expect(damaged?.attributes).toMatchObject({ 'belay.step': 'resize', 'belay.item.key': 'photo-49' })
  })

  it('has the rounds of a loop below the loop, and the case of a choice', async () => {
    const chase = define('chase', { version: 1 })
      .choose('channel', { on: () => 'mail', cases: ['mail', 'phone'] })
      .repeat('remind', {
        dependsOn: ['channel'],
        first: () => 0,
        run: ({ round }) => round,
        until: ({ output }) => output === 3,
      })
    const { engine, clock, tree } = await observed([chase])
    const run = await engine.run(chase)
    await clock.runUntil(run.result())

    expect(await tree(run.id)).toEqual([
      'chase',
      '  channel 1',
      '  remind',
      '    remind[] 1',
      '    remind[] 1',
      '    remind[] 1',
    ])
  })

  it('leads to the trace of each child, and that of a child back to it', async () => {
    const payment = define('payment', { version: 1 })
      .sleep('hold', { for: '1s' })
      .step('charge', { dependsOn: ['hold'], run: () => 'charged', compensate: () => {} })
    const parent = define('parent', { version: 1 })
      .workflow('pay', payment)
      .step('ship', {
        dependsOn: ['pay'],
        retry: { attempts: 2, initial: '1s', jitter: false },
        run: () => {
          throw new Error('No truck.')
        },
      })
    const { engine, clock, tree, spans } = await observed([parent, payment])
    const run = await engine.run(parent)
    await clock.runUntil(run.result().catch(() => {}))
    const [child] = await engine.runs.list({ parentId: run.id })

    const lines = await tree(run.id)
    expect(lines).toEqual([
      'parent failed: Error',
      '  run payment → child elsewhere',
      '  ship 1 failed: Error',
      '  ship 2 failed: Error → retry_of ship',
      '  undo',
      '    undo payment → child elsewhere',
    ])
    expect(await tree(child!.id)).toEqual([
      'payment → parent elsewhere',
      '  wait hold',
      '  charge 1',
      '  payment again',
      '  undo',
      '    undo charge 1',
    ])
    const own = spans().map(treeSpan)
    for (const { links } of own) {
      for (const { spanId, traceId } of links) {
        expect(own.some((span) => span.spanId === spanId && span.traceId === traceId)).toBe(true)
      }
    }
  })

  it('leads to the span of its caller and back, also if a handler starts it', async () => {
    const audit = define('audit', { version: 1 }).step('write', { run: () => 'written' })
    const sale = define('sale', { version: 1 }).step('sell', {
      run: async () => (await engine.run(audit)).id,
    })
    const { engine, clock, tree, spans } = await observed([sale, audit])
    const run = await trace.getTracer('a server').startActiveSpan('POST /orders', async (span) => {
      const started = await engine.run(sale)
      span.end()
      return started
    })
    const { sell: auditId } = await clock.runUntil(run.result())
    await clock.runUntil(engine.runs.handle(auditId).result())

    expect(await tree(run.id)).toEqual(['sale → caller elsewhere', '  sell 1 → started elsewhere'])
    expect(await tree(auditId)).toEqual(['audit → caller elsewhere', '  write 1'])
    const request = spans()
      .map(treeSpan)
      .find(({ name }) => name === 'POST /orders')!
    const root = spans()
      .map(treeSpan)
      .find(({ name }) => name === 'sale')!
    expect(request.links).toEqual([{ traceId: root.traceId, spanId: root.spanId, link: 'started' }])
    expect(root.links).toEqual([{ traceId: request.traceId, spanId: request.spanId, link: 'caller' }])
  })

  it('tells an error of another realm by its name and message', async () => {
    const foreign = define('foreign', { version: 1 }).step('parse', {
      retry: false,
      run: () => {
        throw runInNewContext("new TypeError('no number')")
      },
    })
    const { engine, clock, spans } = await observed([foreign])
    const run = await engine.run(foreign)
    await clock.runUntil(run.result().catch(() => {}))

    const span = spans().find(({ name }) => name.startsWith('parse'))!
    expect(span.status.message).toBe('no number')
    expect(span.events[0]!.attributes).toMatchObject({
      'exception.type': 'TypeError',
      'exception.message': 'no number',
    })
  })

  it('goes on when an operator sends an ended run forward again', async () => {
    let isOpen = false
    const refund = define('refund', { version: 1 })
      .step('find', { run: () => 'found', compensate: () => {} })
      .step('pay', {
        dependsOn: ['find'],
        retry: { attempts: 1 },
        run: () => {
          if (!isOpen) throw new Error('The bank is closed.')
        },
      })
    const { engine, clock, tree } = await observed([refund])
    const run = await engine.run(refund)
    await clock.runUntil(run.result().catch(() => {}))
    isOpen = true
    await run.retry()
    await clock.runUntil(run.result())

    expect(await tree(run.id)).toEqual([
      'refund failed: Error',
      '  find 1',
      '  pay 1 failed: Error',
      '  undo',
      '    undo find 1',
      '  find 1',
      '  pay 1',
      '  refund again',
    ])
  })
})

/** How often each text is there, without its indent. */
function counted(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text.trim()] = (counts[text.trim()] ?? 0) + 1
  return counts
}

describe('a trace is whole or not there', () => {
  it('by the sampler’s answer for the id of the run, in every process alike', async () => {
    const { engine, clock, spans } = await observed([order], {
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) }),
    })
    const runs = await engine.runMany(
      order,
      Array.from({ length: 40 }, () => ({ input: 'fine' as const })),
    )
    for (const run of runs) await clock.runUntil(run.result())
    await engine.close()

    const sizes = Object.values(counted(spans().map((span) => span.spanContext().traceId)))
    expect(sizes.length).toBeGreaterThan(5)
    expect(sizes.length).toBeLessThan(35)
    expect(new Set(sizes)).toEqual(new Set([6]))
  })

  it('and without an SDK there is none, and nothing else changes', async () => {
    const { engine, clock, spans } = await observed([order])
    trace.disable()
    const run = await engine.run(order, 'fine')
    await clock.runUntil(run.result())
    await engine.close()
    expect(spans()).toEqual([])
  })

  it('and an SDK with other ids is told of once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const { engine, clock } = await observed([order])
    const exporter = new InMemorySpanExporter()
    trace.disable()
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    )
    const run = await engine.run(order, 'fine')
    await clock.runUntil(run.result())
    await engine.close()

    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['POST /charges', 'POST /charges'])
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('new NodeSDK({ idGenerator: telemetry.idGenerator })')],
    ])
  })
})
