import { BelayError, define, PermanentError, RetryLaterError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { engines } from './bench-of-engines.ts'

const refuse = (): never => {
  throw new Error('trap')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** An error one of whose properties throws when it is read. */
function errorWith(name: string): Error {
  return Object.defineProperty(new Error('the error itself'), name, { get: refuse })
}

/** Values that throw when they are read, and how they are recorded. */
const hostile: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['a revoked Proxy', revoked, /cannot be shown/],
  ['a Proxy that throws on `get`', () => new Proxy({}, { get: refuse }), /cannot be shown/],
  ['a Proxy that throws on `has`', () => new Proxy({}, { has: refuse }), /./],
  ['a Proxy that throws on `getPrototypeOf`', () => new Proxy({}, { getPrototypeOf: refuse }), /./],
  ['a Proxy of a function', () => new Proxy(() => 1, { get: refuse, getPrototypeOf: refuse }), /./],
  ['an error with a throwing message', () => errorWith('message'), /cannot be shown/],
  ['an error with a throwing stack', () => errorWith('stack'), /the error itself/],
  ['an error with a throwing code', () => errorWith('code'), /cannot be shown/],
  ['an error with a throwing cause', () => errorWith('cause'), /cannot be shown/],
  ['an error caused by a revoked Proxy', () => new Error('the error itself', { cause: revoked() }), /itself/],
  ['an object with a throwing toJSON', () => ({ toJSON: refuse, toString: refuse }), /cannot be shown/],
]

describe('a handler that throws or returns a hostile value', () => {
  it.each(hostile)(
    '(%s) fails its step with a readable error, thrown or rejected',
    async (_, make, shown) => {
      const { clock, worker } = engines()
      const workflow = define('throws', { version: 1 })
        .step('throws', {
          retry: { attempts: 2, initial: '1s' },
          run: () => {
            throw make()
          },
        })
        .step('rejects', { retry: { attempts: 2, initial: '1s' }, run: () => Promise.reject(make()) })
        .step('transacts', {
          transaction: memoryTransaction(),
          retry: { attempts: 2, initial: '1s' },
          run: () => Promise.reject(make()),
        })
      const engine = await worker({ workflows: [workflow] })
      const run = await engine.run(workflow)

      await clock.runUntil(run.result().catch(() => {}))

      const { status, steps } = await run.status()
      expect(status).toBe('failed')
      for (const { error } of steps) if (error !== undefined) expect(error.message).toMatch(shown)
      expect(steps.some(({ status: step }) => step === 'failed')).toBe(true)
    },
  )

  it.each(hostile)('(%s) fails its compensation, and the engine continues', async (_, make, shown) => {
    const { clock, worker } = engines()
    const undone = (name: string, run: () => unknown) =>
      define(name, { version: 1 })
        .step('charge', { run: () => 'charged', compensate: { run, retry: false } })
        .step('ship', {
          dependsOn: ['charge'],
          retry: false,
          run: () => {
            throw new Error('nothing to ship')
          },
        })
    const throws = undone('undo-throws', () => {
      throw make()
    })
    const rejects = undone('undo-rejects', () => Promise.reject(make()))
    const engine = await worker({ workflows: [throws, rejects] })
    const runs = [await engine.run(throws), await engine.run(rejects)]

    await clock.runUntil(Promise.all(runs.map((run) => run.result().catch(() => {}))))

    for (const run of runs) {
      const { status, steps } = await run.status()
      expect(status).toBe('compensation_failed')
      expect(steps[0]!.undo!.error!.message).toMatch(shown)
    }
  })

  it.each(hostile)('(%s) as its result ends the attempt', async (_, make) => {
    const { clock, worker } = engines()
    const workflow = define('returns', { version: 1 })
      .step('returns', { retry: false, run: make })
      .step('resolves', { retry: false, run: async () => ({ inside: make() }) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    await clock.runUntil(run.result().catch(() => {}))

    expect(['failed', 'completed']).toContain((await run.status()).status)
  })

  it('a promise whose `then` throws when read fails its step', async () => {
    const { clock, worker } = engines()
    const workflow = define('odd-promise', { version: 1 }).step('odd', {
      retry: false,
      run: () => Object.defineProperty(Promise.resolve(1), 'constructor', { get: refuse }),
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).steps[0]!.error!.message).toBe('trap')
  })

  it('a schema that throws one gives the caller a readable error', async () => {
    const { engine } = engines()
    const workflow = define('odd-schema', {
      version: 1,
      input: {
        ...unchecked<number>(),
        '~standard': {
          ...unchecked<number>()['~standard'],
          validate: () => {
            throw revoked()
          },
        },
      },
    }).step('one', { run: () => 1 })

    await expect(engine().run(workflow, 1)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/threw while it checked/),
    })
  })
})

describe('the errors of Belay', () => {
  it.each(hostile)('are not confused with %s', (_, make) => {
    expect(BelayError.is(make())).toBe(false)
    expect(RetryLaterError.is(make())).toBe(false)
  })

  it('are recognised', () => {
    expect(BelayError.is(new PermanentError('no'))).toBe(true)
  })
})
