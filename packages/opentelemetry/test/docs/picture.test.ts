import { memory } from '@belay/testing'
import { createEngine, define, PermanentError, unchecked } from '@belay/workflow'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { expect, it, onTestFinished } from 'vitest'
import { traced, treeOfRun, treeSpan } from '../setup/traced.ts'
import { drawTrace } from './draw-trace.ts'

const PICTURE = '../../../../docs/images/trace-of-a-saga.svg'

it('the picture in the docs is the trace of a saga that ran. Write it anew: npx vitest run packages/opentelemetry/test/docs -u', async () => {
  const adapter = memory()
  const { clock } = adapter
  const { telemetry, spans } = traced({ clock })
  const takes = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve))

  /** What an instrumented HTTP client would do. */
  async function post(path: string, ms: number, status: number): Promise<void> {
    const span = trace.getTracer('an HTTP client').startSpan(`POST ${path}`, { startTime: clock.now() })
    await takes(ms)
    if (status >= 500) span.setAttribute('error.type', `${status}`).setStatus({ code: SpanStatusCode.ERROR })
    span.end(clock.now())
    if (status >= 500) throw new Error(`The bank answered ${status}.`)
  }

  const order = define('order', { version: 1, input: unchecked<{ items: readonly string[] }>() })
    .step('reserveStock', { run: () => takes(310), compensate: () => takes(240) })
    .step('checkFraud', { run: () => takes(520) })
    .step('chargeCard', {
      dependsOn: ['reserveStock', 'checkFraud'],
      retry: { attempts: 3, initial: '500ms', jitter: false },
      run: async ({ attempt }) => {
        await takes(40)
        await (attempt === 1 ? post('/charges', 350, 503) : post('/charges', 420, 201))
        await takes(30)
      },
      compensate: () => takes(480),
    })
    .map('packItem', {
      dependsOn: ['chargeCard'],
      over: ({ input }) => input.items,
      itemKey: (item) => item,
      run: async ({ item, index }) => {
        await takes(380 + 260 * index)
        if (item === 'vase') throw new PermanentError('The vase is broken.')
      },
      compensate: ({ index }) => takes(200 + 140 * index),
    })
  const engine = createEngine({ ...telemetry.engineOptions, adapter, workflows: [order], logger: false })
  onTestFinished(() => engine.close())
  telemetry.observe(engine)
  await engine.start()
  const run = await engine.run(order, { items: ['book', 'lamp', 'vase'] })
  await clock.runUntil(run.result().catch(() => {}))
  await engine.close()

  expect(treeOfRun(spans(), run.id)).toEqual([
    'order failed: permanent',
    '  checkFraud 1',
    '  reserveStock 1',
    '  chargeCard 1 failed: Error',
    '    POST /charges failed: 503',
    '  chargeCard 2 → retry_of chargeCard',
    '    POST /charges',
    '  packItem',
    '    packItem[] 1 failed: permanent',
    '    packItem[] 1',
    '    packItem[] 1',
    '  undo',
    '    undo packItem[] 1',
    '    undo packItem[] 1',
    '    undo chargeCard 1',
    '    undo reserveStock 1',
  ])
  const picture = drawTrace('The trace of an order that was undone', spans().map(treeSpan))
  await expect(picture).toMatchFileSnapshot(PICTURE)
})

it('the names in a picture are text, whatever they are', () => {
  const span = { name: '</text>"&', traceId: '1', spanId: '2', parentId: undefined, startMs: 0, endMs: 5 }

  const picture = drawTrace('"<&>"', [{ ...span, status: SpanStatusCode.OK, attributes: {}, links: [] }])

  expect(picture).toContain('aria-label="&#34;&#60;&#38;&#62;&#34;"')
  expect(picture).toContain('>&#60;/text&#62;&#34;&#38;</text>')
})
