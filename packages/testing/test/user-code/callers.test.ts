import { define, stopOnSignals, unchecked } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { engines } from '../engine/bench-of-engines.ts'
import { never, WAYS } from './ways.ts'

type Bad = () => never
const schema = (validate: () => unknown) =>
  ({ '~standard': { version: 1 as const, vendor: 'test', validate } }) as never

/** The calls that call functions of the user, on the time of their caller. */
const CALLS: Readonly<
  Record<string, { readonly call: (bad: Bad) => Promise<unknown>; readonly isSync?: true }>
> = {
  'run(), its schema': {
    call: async (bad) => {
      const { clock, engine } = engines()
      const flow = define('f', { version: 1, input: schema(bad) }).step('s', { run: () => 1 })
      return clock.runUntil(engine().run(flow, 1 as never))
    },
  },
  'runMany(), its schema': {
    call: async (bad) => {
      const { clock, engine } = engines()
      const flow = define('f', { version: 1, input: schema(bad) }).step('s', { run: () => 1 })
      return clock.runUntil(engine().runMany(flow, [{ input: 1 as never }, { input: 2 as never }]))
    },
  },
  'run(), the key of its collected starts': {
    isSync: true,
    call: async (bad) => {
      const { clock, engine } = engines()
      const start = { debounce: '1s', key: bad } as const
      const flow = define('f', { version: 1, input: unchecked<number>(), start }).step('s', { run: () => 1 })
      return clock.runUntil(engine().run(flow, 1))
    },
  },
  'run(), the key of a limit that refuses': {
    call: async (bad) => {
      const { clock, engine } = engines()
      const concurrency = { limit: 1, key: bad, atLimit: 'refuse' } as const
      const flow = define('f', { version: 1, concurrency }).step('s', { run: () => 1 })
      return clock.runUntil(engine().run(flow))
    },
  },
  'signal(), the schema of its step': {
    call: async (bad) => {
      const { clock, worker } = engines()
      const flow = define('f', { version: 1 }).waitForSignal('go', { schema: schema(bad) })
      const engine = await worker({ workflows: [flow] })
      const run = await engine.run(flow)
      return clock.runUntil(run.signal('go', 1 as never))
    },
  },
  'approve(), the schema of its step': {
    call: async (bad) => {
      const { clock, worker } = engines()
      const flow = define('f', { version: 1 }).approval('go', { schema: schema(bad) })
      const engine = await worker({ workflows: [flow] })
      const run = await engine.run(flow)
      return clock.runUntil(run.approve('go', { by: 'ann', payload: 1 as never }))
    },
  },
  'schedules.put(), the schema of its workflow': {
    call: async (bad) => {
      const { clock, engine } = engines()
      const flow = define('f', { version: 1, input: schema(bad) }).step('s', { run: () => 1 })
      return clock.runUntil(engine().schedules.put('s', { every: '1m', workflow: flow, input: 1 as never }))
    },
  },
}

describe.each(Object.entries(CALLS))('%s', (_, { call, isSync }) => {
  it.each(Object.entries(WAYS))('that %s: the call rejects, and says why', async (way, bad) => {
    const error = await call(bad as Bad).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ name: 'BelayError' })
    if (way === 'throws') expect((error as Error).message).toContain('it threw')
    if (way === 'hangs' && isSync !== true) {
      expect(error).toMatchObject({ code: 'function_timeout' })
      expect((error as Error).message).toMatch(/did not answer within 30s/)
    }
  })
})

describe('an object that is given as the input in place of options', () => {
  it('is checked by a schema that rejects, and the process goes on', async () => {
    const { engine } = engines()
    const refuses = schema(() => Promise.reject(new Error('no')))
    const flow = define('f', { version: 1, input: refuses }).step('s', { run: () => 1 })
    await expect(engine().run(flow, { key: 'a' } as never)).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

describe('afterwards of stopOnSignals()', () => {
  it('that hangs does not keep the process for ever', async () => {
    vi.useFakeTimers()
    try {
      const listeners = new Map<string, () => void>()
      const exits: number[] = []
      const process = {
        on: (signal: string, listener: () => void) => void listeners.set(signal, listener),
        off: () => {},
        exit: (code: number) => void exits.push(code),
      }
      const bad = () => {
        throw new Error('the logger')
      }
      stopOnSignals({ close: async () => {} }, process, {
        afterwards: () => never,
        logger: { debug: bad, info: bad, warn: bad, error: bad },
      })
      listeners.get('SIGTERM')!()
      await vi.advanceTimersByTimeAsync(29_000)
      expect(exits).toEqual([])
      await vi.advanceTimersByTimeAsync(2_000)
      expect(exits).toEqual([1])
    } finally {
      vi.useRealTimers()
    }
  })
})
