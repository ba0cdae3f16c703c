import { BelayError, define, PermanentError, RunFailedError, type StepContext } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, StoppableClock } from './bench-of-engines.ts'

const RETRY = { attempts: 3, initial: 10, jitter: false } as const

/** A workflow of one step with `heartbeatTimeout: '2s'`. */
function beating(run: (context: StepContext) => unknown) {
  return define('beating', { version: 1 }).step('import', { retry: RETRY, heartbeatTimeout: '2s', run })
}

describe('a handler with a heartbeatTimeout', () => {
  it('may take as long as it likes while it sends heartbeats', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = beating(async ({ heartbeat, attempt }) => {
      for (let beat = 0; beat < 20; beat += 1) {
        await sleep(1_900)
        await heartbeat()
      }
      return attempt
    })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)

    expect(await clock.runUntil(run.result(), { limit: '1m' })).toEqual({ import: 1 })
  })

  it('fails its attempt once it is silent for too long: its signal fires, and the next attempt begins', async () => {
    const { clock, worker, sleep } = engines()
    const reasons: unknown[] = []
    const silentFrom: number[] = []
    const workflow = beating(async ({ heartbeat, attempt, signal }) => {
      await sleep(1_500)
      await heartbeat()
      if (attempt === 2) return 'done'
      silentFrom.push(clock.now())
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      silentFrom.push(clock.now())
      reasons.push(signal.reason)
      throw signal.reason
    })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)

    expect(await clock.runUntil(run.result(), { limit: '1m' })).toEqual({ import: 'done' })
    expect(silentFrom[1]! - silentFrom[0]!).toBe(2_000)
    expect(reasons).toMatchObject([{ code: 'heartbeat_timeout', attempt: 1, step: 'import' }])
  })

  it('fails its step for good when its attempts are used up, and its effect counts as unknown', async () => {
    const { clock, worker } = engines()
    const workflow = define('silent', { version: 1 }).step('import', {
      retry: false,
      heartbeatTimeout: '2s',
      run: ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(undefined), { once: false }),
        ).then(() => {
          throw new Error('stopped')
        }),
    })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))

    expect(RunFailedError.is(error) && error.undo).toMatchObject([
      { step: 'import', result: 'unknown', error: { code: 'heartbeat_timeout' } },
    ])
    expect(RunFailedError.is(error) && error.message).toContain(
      'sent no heartbeat for 2s, its `heartbeatTimeout`',
    )
  })

  it('has the grace of a timeout: a result within it counts', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = beating(async ({ attempt }) => {
      await sleep(3_500)
      return attempt
    })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)

    expect(await clock.runUntil(run.result(), { limit: '1m' })).toEqual({ import: 1 })
  })

  it('ends by its timeout all the same, however many heartbeats it sends', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('slow', { version: 1 }).step('import', {
      retry: false,
      timeout: '5s',
      heartbeatTimeout: '2s',
      run: async ({ heartbeat, signal }) => {
        while (!signal.aborted) {
          await sleep(500)
          await heartbeat()
        }
        throw new Error('stopped')
      },
    })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))

    expect(error).toMatchObject({ cause: { code: 'step_timeout' } })
  })

  it('may be an item of a map, or a compensation', async () => {
    const { clock, worker } = engines()
    const silent: string[] = []
    const hang = ({ step, attempt, signal }: StepContext) =>
      new Promise<string>((resolve, reject) => {
        if (attempt === 2) return resolve(step)
        signal.addEventListener('abort', () => {
          silent.push(`${step}: ${BelayError.is(signal.reason) && signal.reason.code}`)
          reject(signal.reason)
        })
      })
    const workflow = define('mapped', { version: 1 })
      .map('pages', {
        over: () => ['a'],
        heartbeatTimeout: '1s',
        retry: RETRY,
        run: hang,
        compensate: { run: hang, heartbeatTimeout: '1s', retry: RETRY },
      })
      .step('fail', {
        dependsOn: ['pages'],
        run: () => {
          throw new PermanentError('no')
        },
      })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    await clock.runUntil(
      run.result().catch(() => {}),
      { limit: '1m' },
    )

    expect(silent).toEqual(['pages[0]: heartbeat_timeout', 'pages[0]: heartbeat_timeout'])
    expect((await run.status()).status).toBe('compensated')
  })
})

describe('the details of a heartbeat', () => {
  it('are there for the next attempt, and not for others', async () => {
    const { clock, worker } = engines()
    const seen: unknown[] = []
    const workflow = define('paged', { version: 1 })
      .step('import', {
        retry: RETRY,
        run: async ({ attempt, heartbeat, lastHeartbeat }) => {
          seen.push(lastHeartbeat)
          if (attempt === 1) {
            await heartbeat({ page: 1 })
            await heartbeat({ page: 2 })
          }
          if (attempt === 2) await heartbeat()
          if (attempt < 3) throw new Error('again')
        },
        compensate: ({ lastHeartbeat }) => {
          seen.push(lastHeartbeat)
        },
      })
      .step('fail', {
        dependsOn: ['import'],
        retry: RETRY,
        run: ({ lastHeartbeat }) => {
          seen.push(lastHeartbeat)
          throw new PermanentError('no')
        },
      })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect(seen).toEqual([undefined, { page: 2 }, { page: 2 }, undefined, undefined])
    expect(await run.values()).toEqual({})
  })

  it('survive the death of the worker that sent them', async () => {
    const { clock, worker } = engines()
    const { passed } = gate()
    const seen: unknown[] = []
    const workflow = beating(async ({ attempt, heartbeat, lastHeartbeat }) => {
      seen.push(lastHeartbeat)
      if (attempt > 1) return 'done'
      await heartbeat({ page: 7 })
      await passed
      return undefined
    })
    const dying = new StoppableClock(clock)
    const first = await worker({ workflows: [workflow], clock: dying, lease: '10s' })
    const run = await first.run(workflow)
    await clock.advance('1s')
    dying.stop()
    const second = await worker({ workflows: [workflow], lease: '10s' })

    expect(await clock.runUntil(second.result(run.id), { limit: '5m' })).toEqual({ import: 'done' })
    expect(seen).toEqual([undefined, { page: 7 }])
  })

  it('are refused if they are too large or no JSON, and the heartbeat counts all the same', async () => {
    const { clock, worker, sleep } = engines()
    const refused: unknown[] = []
    const workflow = beating(async ({ heartbeat, attempt }) => {
      for (const details of ['x'.repeat(200), 1n, 'x'.repeat(200)]) {
        await sleep(1_500)
        await heartbeat(details).catch((error: BelayError) => refused.push(error.code))
      }
      return attempt
    })
    const run = await (await worker({ workflows: [workflow], valueMaxBytes: 100 })).run(workflow)

    expect(await clock.runUntil(run.result(), { limit: '1m' })).toEqual({ import: 1 })
    expect(refused).toEqual(['payload_too_large', 'payload_unserialisable', 'payload_too_large'])
  })

  it('cannot be mistaken for a published value', async () => {
    const { clock, worker } = engines()
    const workflow = define('keys', { version: 1 }).step('one', {
      run: ({ publish }) => publish('\u0001forward:1', 'mine').catch((error: BelayError) => error.code),
    })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ one: 'invalid_option' })
  })
})

describe('the context of a handler', () => {
  it('may be spread and destructured', async () => {
    const { clock, worker } = engines()
    const workflow = define('spread', { version: 1 }).step('one', {
      run: async (context) => {
        const { signal, heartbeat, publish, progress, ...others } = { ...context }
        await Promise.all([heartbeat(1), publish('k', 2), progress(3)])
        return [signal.aborted, Object.keys(others).sort()]
      },
    })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)

    const names = ['attempt', 'deps', 'idempotencyKey', 'input', 'lastHeartbeat', 'log', 'runId', 'step']
    expect(await clock.runUntil(run.result())).toEqual({ one: [false, names] })
  })
})
