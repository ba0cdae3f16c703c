import { define, type EngineOptions, type Logger } from '@belay/workflow'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { engines } from '../engine/bench-of-engines.ts'
import { WAYS } from './ways.ts'

const flow = define('flow', { version: 1, retry: { attempts: 2, initial: '1s' } })
  .step('fails', {
    run: ({ attempt, log }) => {
      log.info('begun')
      if (attempt === 1) throw new Error('once')
      return attempt
    },
  })
  .step('after', { dependsOn: ['fails'], run: () => 'done' })

describe.each(Object.entries(WAYS))('a listener that %s', (way, bad) => {
  it('is logged, and neither the other listeners nor the runs notice it', async () => {
    const { clock, worker } = engines()
    const errors: string[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
    const engine = await worker({ workflows: [flow], logger })
    const heard: string[] = []
    for (const event of ['run.started', 'step.retrying', 'step.completed', 'run.ended'] as const) {
      engine.on(event, bad as () => void)
      engine.on(event, () => void heard.push(event))
    }

    const run = await engine.run(flow)

    await expect(clock.runUntil(run.result())).resolves.toEqual({ fails: 2, after: 'done' })
    expect(heard.sort()).toEqual([
      'run.ended',
      'run.started',
      'step.completed',
      'step.completed',
      'step.retrying',
    ])
    const isTold = way !== 'hangs' && way !== 'returns nonsense'
    expect(errors.filter((message) => message.startsWith('A listener of'))).toHaveLength(isTold ? 5 : 0)
  })
})

describe('a listener that returned a promise', () => {
  it('may read its run until it is done, also while the engine closes', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [flow] })
    const read: unknown[] = []
    engine.on('run.ended', async ({ runId }) => {
      for (let reads = 0; reads < 3; reads += 1) read.push((await engine.runs.get(runId))?.status)
      read.push(await engine.runs.history(runId))
    })
    const run = await engine.run(flow)
    await clock.runUntil(run.result())

    await engine.close()

    expect(read).toEqual(['completed', 'completed', 'completed', []])
  })
})

describe.each(Object.entries(WAYS))('a logger that %s', (way, bad) => {
  const console = { error: vi.spyOn(globalThis.console, 'error') }
  beforeEach(() => {
    console.error.mockReset().mockImplementation(() => {})
  })
  afterEach(() => console.error.mockReset())

  const logger = { debug: bad, info: bad, warn: bad, error: bad } as unknown as Logger

  it('fails neither start() nor a handler nor a run, and the console is told once', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [flow], logger })
    engine.on('run.started', () => {
      throw new Error('for the log')
    })
    const run = await engine.run(flow)

    await expect(clock.runUntil(run.result())).resolves.toEqual({ fails: 2, after: 'done' })
    await clock.runUntil(engine.stop({ timeout: 0 }))
    const isTold = way !== 'hangs' && way !== 'returns nonsense'
    expect(console.error).toHaveBeenCalledTimes(isTold ? 1 : 0)
    if (isTold) expect(console.error.mock.calls[0]![0]).toMatch(/The logger failed.*Correct the `logger`/)
  })

  it('keeps the retention going', async () => {
    const { clock, worker } = engines()
    const retention = { completed: '1h', every: '1m' } satisfies EngineOptions['retention']
    const engine = await worker({ workflows: [flow], logger, retention })
    const run = await engine.run(flow)
    await clock.runUntil(run.result())
    await clock.advance('62m')
    expect(await engine.runs.list({ workflow: 'flow' })).toEqual([])
  })
})

describe.each(Object.entries(WAYS))('an archive that %s', (way, bad) => {
  it('keeps its runs, says so, and keeps no others from being pruned', async () => {
    const { clock, worker } = engines()
    const failing = define('failing', { version: 1, retry: false }).step('s', {
      run: () => {
        throw new Error('it fails')
      },
    })
    const errors: string[] = []
    const retention = {
      completed: '1h',
      failed: '1h',
      keys: '1h',
      every: '1m',
      archive: (runs: readonly { readonly status: string }[]) =>
        runs.some(({ status }) => status === 'completed') ? (bad() as undefined) : undefined,
    } satisfies EngineOptions['retention']
    const engine = await worker({ workflows: [flow, failing], retention })
    engine.on(
      'error',
      ({ during, error }) => void errors.push(`${during}: ${String((error as Error).message)}`),
    )
    const kept = await engine.run(flow)
    const gone = await engine.run(failing, undefined, { key: 'a' })
    await clock.runUntil(Promise.allSettled([kept.result(), gone.result()]))

    await clock.advance('90m')

    const left = (await engine.runs.list({})).map(({ workflow }) => workflow)
    // What an archive returns is not read.
    const isKept = !way.startsWith('returns nonsense')
    expect(left).toEqual(isKept ? ['flow'] : [])
    if (isKept) expect(errors[0]).toMatch(/^pruning: /)
    if (way === 'hangs') {
      expect(errors[0]).toMatch(/`retention.archive` did not answer within 10m/)
      expect(errors.at(-1)).toMatch(/earlier call of `retention.archive` has not ended/)
    }
  })
})
