import { memory } from '@belay/testing'
import { createEngine, define, jsonLogger, type Logger, type PinoLike } from '@belay/workflow'
import { trace } from '@opentelemetry/api'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { traced, treeSpan } from './setup/traced.ts'

type Line = Readonly<Record<string, unknown>>

/** The lines that a JSON logger and a pino logger write. */
const LOGGERS: Readonly<Record<string, () => { logger: Logger | PinoLike; lines: Line[] }>> = {
  'jsonLogger()': () => {
    const lines: Line[] = []
    const keep = (line: string) => void lines.push(JSON.parse(line))
    for (const method of ['info', 'warn', 'error'] as const) {
      const spied = vi.spyOn(console, method).mockImplementation(keep)
      onTestFinished(() => spied.mockRestore())
    }
    return { logger: jsonLogger(), lines }
  },
  pino: () => {
    const lines: Line[] = []
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    return { logger, lines: lines }
  },
}

const order = define('order', { version: 1 }).step('charge', {
  retry: { attempts: 2, initial: '1s' },
  run: ({ log, attempt }) =>
    trace.getTracer('a client').startActiveSpan('POST /charges', (span) => {
      log.info('calling the bank')
      span.end()
      if (attempt === 1) throw new Error('The bank is busy.')
    }),
})

describe.each(Object.entries(LOGGERS))('the log through %s', (_, made) => {
  it('leads from each line to its span: those of handlers, and those of the engine about attempts', async () => {
    const { logger, lines } = made()
    const adapter = memory()
    const { telemetry, spans } = traced({ clock: adapter.clock })
    const engine = createEngine({
      ...telemetry.engineOptions,
      adapter,
      workflows: [order],
      logger: telemetry.logger(logger),
    })
    telemetry.observe(engine)
    await engine.start()
    const run = await engine.run(order)
    await adapter.clock.runUntil(run.result())
    await engine.close()

    const idOf = (name: string, index = 0) =>
      spans()
        .map(treeSpan)
        .filter((span) => span.name === name)[index]!.spanId
    const of = (message: string) =>
      lines
        .filter(({ message: json, msg }) => (json ?? msg) === message)
        .map(({ trace_id, span_id }) => ({ trace_id, span_id }))
    const traceId = run.id.replaceAll('-', '')
    expect(of('calling the bank')).toEqual([
      { trace_id: traceId, span_id: idOf('POST /charges', 0) },
      { trace_id: traceId, span_id: idOf('POST /charges', 1) },
    ])
    expect(of('A step failed, and is tried again.')).toEqual([{ trace_id: traceId, span_id: idOf('charge') }])
    expect(of('The worker has started.')).toEqual([{ trace_id: undefined, span_id: undefined }])
  })
})
