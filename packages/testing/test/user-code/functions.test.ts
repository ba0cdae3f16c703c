import { define, type RunFailedError, type WorkflowDefinition } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from '../engine/bench-of-engines.ts'
import { never, WAYS } from './ways.ts'

/** A function of the user that misbehaves. */
type Bad = () => never

const ok = define('child', { version: 1 }).step('work', { run: () => 1 })
const retry = false as const
const flow = (name: string) => define(name.replaceAll(/\W/g, '-'), { version: 1 })
const checking = (validate: Bad) => ({
  input: { '~standard': { version: 1 as const, vendor: 'test', validate } },
})

interface Place {
  /** With this function; everything else in it is sound. */
  readonly flow: (bad: Bad) => WorkflowDefinition
  /** Its answer is not awaited: a promise is nonsense. */
  readonly isSync?: true
  /** Default: failed. The undo of a child needs its key too. */
  readonly ends?: 'compensated' | 'compensation_failed'
}

/** Every option that takes a function which an attempt calls, besides handlers. */
const PLACES: Readonly<Record<string, Place>> = {
  when: { flow: (bad) => flow('when').step('s', { when: bad, retry, run: () => 1 }) },
  'over of a map': { flow: (bad) => flow('over').map('s', { over: bad, retry, run: () => 1 }) },
  'itemKey of a map': {
    isSync: true,
    flow: (bad) => flow('itemKey').map('s', { over: () => [1], itemKey: bad, retry, run: () => 1 }),
  },
  'over of a fan': { flow: (bad) => flow('fan').workflow('s', ok, { over: bad, retry, input: () => null }) },
  'first of a loop': {
    flow: (bad) =>
      flow('first').repeat('s', { first: bad as () => number, retry, run: () => 1, until: () => true }),
  },
  'until of a loop': { flow: (bad) => flow('until').repeat('s', { retry, run: () => 1, until: bad }) },
  'delay of a loop': {
    flow: (bad) => flow('delay').repeat('s', { retry, run: () => 1, until: () => false, delay: bad, max: 5 }),
  },
  'for of a sleep': { flow: (bad) => flow('for').sleep('s', { for: bad }) },
  'until of a sleep': { flow: (bad) => flow('sleep-until').sleep('s', { until: bad }) },
  'until of a poll': {
    flow: (bad) => flow('poll').poll('s', { until: bad, every: '1s', retry }),
  },
  'onTimeout of a signal': {
    flow: (bad) => flow('signal').waitForSignal('s', { timeout: '1s', onTimeout: bad }),
  },
  'key of a limit': {
    flow: (bad) => flow('limit').step('s', { concurrency: { limit: 1, key: bad }, retry, run: () => 1 }),
  },
  'key of a rate': {
    flow: (bad) =>
      flow('rate').step('s', { rateLimit: { limit: 1, per: '1s', key: bad }, retry, run: () => 1 }),
  },
  'key of a child': {
    ends: 'compensation_failed',
    isSync: true,
    flow: (bad) => flow('key').workflow('s', ok, { key: bad, retry }),
  },
  'input of a child': {
    ends: 'compensated',
    flow: (bad) => flow('input').workflow('s', ok, { input: bad, retry }),
  },
  'schema of a child': {
    ends: 'compensated',
    flow: (bad) =>
      flow('schema').workflow(
        's',
        define('checked', { version: 1, ...checking(bad) }).step('s', { run: () => 1 }),
        {
          input: () => 1 as never,
          retry,
        },
      ),
  },
}

describe.each(Object.entries(PLACES))('%s', (_, place) => {
  it.each(Object.entries(WAYS))(
    'that %s fails its own step, names it, and frees its slot',
    async (way, bad) => {
      const { clock, worker } = engines()
      const other = flow('other').step('s', { run: () => 'fine' })
      const workflow = place.flow(bad as Bad)
      const engine = await worker({ workflows: [workflow, other], concurrency: 1 })

      const run = await engine.run(workflow as never)
      const failing = run.result().catch((error: RunFailedError) => error)
      const error = (await clock.runUntil(failing, { limit: '5m' })) as RunFailedError

      const { status, steps } = await run.status()
      expect(status).toBe(place.ends ?? 'failed')
      const step = steps.find(({ error: own }) => own !== undefined)!
      expect(error.message).toContain(step.error!.message)
      if (way === 'throws') expect(step.error!.message).toContain('it threw')
      if (way === 'hangs' && !place.isSync) {
        expect(step.error).toMatchObject({ code: 'function_timeout' })
        expect(step.error!.message).toMatch(/did not answer within 30s/)
      }
      const beside = await engine.run(other)
      await expect(clock.runUntil(beside.result(), { limit: '5s' })).resolves.toEqual({ s: 'fine' })
    },
  )
})

describe('a function that is slow', () => {
  it('may take as long as the timeout of its step, if there is one', async () => {
    const { clock, sleep, worker } = engines()
    const slow = define('slow', { version: 1, timeout: '2m' }).map('all', {
      over: async () => {
        await sleep(60_000)
        return [1, 2]
      },
      run: ({ item }) => item * 2,
    })
    const engine = await worker({ workflows: [slow] })
    const run = await engine.run(slow)

    await expect(clock.runUntil(run.result())).resolves.toEqual({ all: [2, 4] })
  })

  it('is asked again by the step’s retry', async () => {
    const { clock, worker } = engines()
    let calls = 0
    const flow = define('again', { version: 1 }).step('s', {
      when: () => (++calls === 1 ? never : true),
      retry: { attempts: 2, initial: '1s' },
      run: () => 'done',
    })
    const engine = await worker({ workflows: [flow] })
    const run = await engine.run(flow)

    await expect(clock.runUntil(run.result())).resolves.toEqual({ s: 'done' })
    expect(calls).toBe(2)
  })
})
