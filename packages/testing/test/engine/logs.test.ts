import {
  createEngine,
  define,
  type EngineOptions,
  type LogFields,
  PermanentError,
  RunFailedError,
} from '@belay/workflow'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { memory } from '../../src/index.ts'
import { engines } from './bench-of-engines.ts'

interface Entry {
  readonly level: string
  readonly message: string
  readonly fields: LogFields | undefined
}

function logged() {
  const entries: Entry[] = []
  const at = (level: string) => (message: string, fields?: LogFields) =>
    void entries.push({ level, message, fields })
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { entries, logger, of: (level: string) => entries.filter((entry) => entry.level === level) }
}

const RETRY = { attempts: 2, initial: '1s', jitter: false } as const

describe('the log', () => {
  it('tells when a worker starts and stops', async () => {
    const { worker } = engines()
    const { logger, of } = logged()
    const flow = define('flow', { version: 3 }).step('only', { run: () => 1 })
    const engine = await worker({ workflows: [flow], logger, name: 'w', concurrency: 7 })
    await engine.close()

    const workerId = expect.any(String)
    expect(of('info')).toMatchObject([
      {
        message: 'The worker has started.',
        fields: { workerId, name: 'w', concurrency: 7, workflows: ['flow v3'] },
      },
      { message: 'The worker has stopped.', fields: { workerId } },
    ])
  })

  it('warns of a failed attempt, and tells an error once the step has failed for good, with what was thrown', async () => {
    const { clock, worker } = engines()
    const { logger, of } = logged()
    const thrown = [new Error('first'), new TypeError('second')]
    const events: unknown[] = []
    const flow = define('flow', { version: 1 }).step('pay', {
      retry: RETRY,
      run: ({ attempt }) => {
        throw thrown[attempt - 1]
      },
    })
    const engine = await worker({ workflows: [flow], logger })
    engine.on('step.retrying', (event) => events.push(event.thrown))
    engine.on('step.failed', (event) => events.push(event.thrown))
    const run = await engine.run(flow)
    await clock.runUntil(run.result().catch(() => {}))

    const step = { runId: run.id, workflow: 'flow', version: 1, step: 'pay', direction: 'forward' }
    expect(of('warn')).toEqual([
      {
        level: 'warn',
        message: 'A step failed, and is tried again.',
        fields: expect.objectContaining({ ...step, attempt: 1, delayMs: 1_000, error: thrown[0] }),
      },
    ])
    expect(of('error')).toEqual([
      {
        level: 'error',
        message: 'A step failed for good. Its run stops, and is undone.',
        fields: expect.objectContaining({ ...step, attempt: 2, error: thrown[1] }),
      },
    ])
    expect(events).toEqual(thrown)
  })

  it('tells an error when an undo is parked', async () => {
    const { clock, worker } = engines()
    const { logger, of } = logged()
    const flow = define('flow', { version: 1 })
      .step('reserve', {
        run: () => 1,
        compensate: {
          retry: RETRY,
          run: () => {
            throw new Error('gone')
          },
        },
      })
      .step('pay', {
        dependsOn: ['reserve'],
        run: () => {
          throw new PermanentError('declined')
        },
      })
    const engine = await worker({ workflows: [flow], logger })
    await engine.run(flow)
    await clock.advance('10s')

    expect(of('warn').map(({ message }) => message)).toEqual([
      'The undo of a step failed, and is tried again.',
    ])
    expect(
      of('error').map(({ message, fields }) => [message, fields?.['step'], String(fields?.['error'])]),
    ).toEqual([
      ['A step failed for good. Its run stops, and is undone.', 'pay', 'PermanentError: declined'],
      [
        'The undo of a step failed for good. Its run is parked until an operator acts.',
        'reserve',
        'Error: gone',
      ],
    ])
  })

  it('only warns of a failure past which the run continues, and says nothing of a handler that was told to stop', async () => {
    const { clock, worker } = engines()
    const { logger, of } = logged()
    const flow = define('flow', { version: 1 })
      .step('optional', {
        onFailure: 'continue',
        run: () => {
          throw new PermanentError('no')
        },
      })
      .step('long', {
        dependsOn: ['optional'],
        run: ({ signal }) =>
          new Promise<void>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
          }),
      })
    const engine = await worker({ workflows: [flow], logger })
    const run = await engine.run(flow)
    await clock.advance('1s')
    await run.cancel()
    await clock.runUntil(run.result().catch(() => {}))

    expect(of('warn').map(({ message }) => message)).toEqual(['A step failed for good. Its run goes on.'])
    expect(of('error')).toEqual([])
  })
})

describe('the stack of an error', () => {
  const flow = define('flow', { version: 1 }).step('pay', {
    run: () => {
      throw new PermanentError('declined', { cause: new TypeError('no card') })
    },
  })

  async function failure(options: { readonly storeStacks?: boolean }) {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [flow], ...options })
    const run = await engine.run(flow)
    const error = await clock.runUntil(run.result().catch((thrown: unknown) => thrown))
    const { steps } = await run.status()
    const { cause } = await run.explain()
    return { error: error as RunFailedError, stored: steps[0]?.error, cause }
  }

  it('is stored with it, and given to those who wait for the result', async () => {
    const { error, stored, cause } = await failure({})

    // The handler's own frame alone: what comes below is the engine's.
    expect(stored?.stack).toMatch(/^\s+at run \(.*logs\.test\.ts:\d+:\d+\)$/)
    expect(stored?.cause?.stack).toContain('logs.test.ts')
    expect(RunFailedError.is(error)).toBe(true)
    expect(error.cause).toEqual(stored)
    expect(cause).toMatchObject({ type: 'step_failed', step: 'pay', error: stored })
  })

  it('is not stored with an error that the engine made: it would name no code of the user', async () => {
    const { clock, worker } = engines()
    const asked = define('asked', { version: 1 }).poll('paid', {
      every: '1h',
      timeout: '20d',
      until: () => undefined,
    })
    const engine = await worker({ workflows: [asked] })
    const run = await engine.run(asked)

    const error = await clock.runUntil(
      run.result().catch((thrown: unknown) => thrown),
      { limit: '30d' },
    )

    expect((error as RunFailedError).cause).toEqual({
      name: 'BelayError',
      code: 'poll_timeout',
      message: `Step "paid" of run ${run.id} polled for 20d, and every answer was "not yet". Raise \`timeout\`, or look at what it polls.`,
    })
  })

  it('is not stored if the engine is told so', async () => {
    const { stored } = await failure({ storeStacks: false })

    expect(stored).toEqual({
      name: 'PermanentError',
      message: 'declined',
      code: 'permanent',
      cause: { name: 'TypeError', message: 'no card' },
    })
  })
})

describe('an engine without a logger', () => {
  const failing = define('failing', { version: 1 }).step('work', {
    retry: RETRY,
    run: () => {
      throw new TypeError('no card')
    },
  })

  /** Everything that one run writes to the console, by level. */
  async function written(options: Partial<EngineOptions>): Promise<readonly string[]> {
    const lines: string[] = []
    for (const level of ['debug', 'info', 'warn', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((line: unknown) => void lines.push(`${level}: ${line}`))
    onTestFinished(() => void vi.restoreAllMocks())
    const adapter = memory()
    const engine = createEngine({ adapter, workflows: [failing], ...options })
    await engine.start()
    const run = await engine.run(failing)
    await adapter.clock.runUntil(run.result().catch(() => {}))
    await adapter.clock.runUntil(engine.close())
    return lines
  }

  it('writes warnings and errors to the console, and nothing else', async () => {
    expect(await written({})).toEqual([
      'warn: [belay] A step failed, and is tried again.',
      'error: [belay] A step failed for good. Its run stops, and is undone.',
    ])
  })

  it('is silent with `logger: false`', async () => {
    expect(await written({ logger: false })).toEqual([])
  })
})
