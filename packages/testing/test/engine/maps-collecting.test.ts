import { createEngine, define, defineGraph, PermanentError, type Settled, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

interface Mailing {
  readonly addresses: readonly string[]
}

interface Made {
  readonly minSuccess?: number | `${number}%`
  readonly concurrency?: number
  readonly compensateOn?: 'started'
  readonly reports?: boolean
}

/** A map whose items fail as long as their addresses are in `failing`, on an engine that works. */
async function mailing(
  addresses: readonly string[],
  { minSuccess, concurrency, compensateOn, reports }: Made = {},
) {
  const adapter = memory()
  const calls: string[] = []
  const failing = new Set(addresses.filter((address) => address.startsWith('bad')))
  const workflow = define('mailing', {
    version: 1,
    input: unchecked<Mailing>(),
    retry: { attempts: 2, initial: '1s' },
  })
    .map('send', {
      over: ({ input }) => input.addresses,
      itemKey: (address) => address,
      onFailure: 'collect',
      minSuccess,
      concurrency,
      run: ({ item, idempotencyKey }) => {
        calls.push(idempotencyKey.replace(/^[^:]*:/, ''))
        if (failing.has(item)) throw new PermanentError(`no such address ${item}`)
        return `sent ${item}`
      },
      compensate: ({ item }) => void calls.push(`recall ${item}`),
      compensateOn,
    })
    .step('report', {
      dependsOn: ['send'],
      run: ({ deps }) => {
        if (reports === false) throw new PermanentError('refused')
        return deps.send.map((sent) => (sent.status === 'completed' ? sent.output : sent.error.message))
      },
    })
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow, { addresses })
  return {
    run,
    calls,
    failing,
    async over() {
      const result = run.result()
      await adapter.clock.runUntil(result.then(String, String))
      assertInvariants(adapter.dump())
      return result.then(
        ({ send, report }) => ({ send, report }),
        (error: Error) => error.message,
      )
    },
    status: async () => (await engine.runs.get(run.id))?.status,
    close: () => adapter.clock.runUntil(engine.close()),
  }
}

describe('a map that collects failures', () => {
  it.each([undefined, 1, 2])(
    'goes on past items that fail, with %s at a time, and tells how each ended',
    async (concurrency) => {
      const { over, status, close } = await mailing(
        ['a', 'bad', 'c', 'd', 'bad2'],
        concurrency === undefined ? {} : { concurrency },
      )
      const outputs = (await over()) as { send: readonly Settled<string>[]; report: readonly string[] }
      expect(outputs.report).toEqual([
        'sent a',
        'no such address bad',
        'sent c',
        'sent d',
        'no such address bad2',
      ])
      expect(outputs.send[0]).toEqual({ status: 'completed', output: 'sent a' })
      expect(outputs.send[1]).toMatchObject({
        status: 'failed',
        error: { name: 'PermanentError', message: 'no such address bad' },
      })
      expect(await status()).toBe('completed')
      await close()
    },
  )

  it('undoes only the completed items when a later step fails', async () => {
    const { calls, over, status, close } = await mailing(['a', 'bad', 'c'], { reports: false })
    expect(await over()).toMatch(/refused\. Undone: 2 of 2/)
    expect(calls.filter((call) => call.startsWith('recall')).sort()).toEqual(['recall a', 'recall c'])
    expect(await status()).toBe('compensated')
    await close()
  })

  it('undoes failed items too, if they may have taken effect and compensateOn says so', async () => {
    const { calls, over, close } = await mailing(['a', 'bad', 'c'], {
      reports: false,
      compensateOn: 'started',
    })
    await over()
    expect(calls.filter((call) => call.startsWith('recall')).sort()).toEqual([
      'recall a',
      'recall bad',
      'recall c',
    ])
    await close()
  })

  it.each([
    { minSuccess: 2, limit: '2' },
    { minSuccess: '50%', limit: '50% of them (2)' },
  ] as const)(
    'fails with minSuccess $minSuccess if fewer completed, and undoes those',
    async ({ minSuccess, limit }) => {
      const { calls, over, close } = await mailing(['a', 'bad', 'bad2'], { minSuccess })
      const message = await over()
      expect(message).toContain(
        `Of the 3 items of map "send", 1 completed and 2 failed, and minSuccess asks for ${limit}. The first failure is that of item "bad": no such address bad.`,
      )
      expect(calls.filter((call) => call.startsWith('recall'))).toEqual(['recall a'])
      await close()
    },
  )

  it('completes if exactly minSuccess completed', async () => {
    const { over, status, close } = await mailing(['a', 'b', 'bad'], { minSuccess: '66.6%' })
    await over()
    expect(await status()).toBe('completed')
    await close()
  })

  it('runs its failed items again when its failed run is retried', async () => {
    const { run, calls, failing, over, close } = await mailing(['a', 'bad'], { minSuccess: 2 })
    await over()
    failing.clear()
    calls.length = 0
    await run.retry()
    expect(await over()).toMatchObject({ report: ['sent a', 'sent bad'] })
    expect(calls.sort()).toEqual(['send[a]:2', 'send[bad]'])
    await close()
  })

  it('is the same as data', async () => {
    const workflow = defineGraph(
      'mailing',
      {
        steps: { send: { over: 'list', handler: 'send', onFailure: 'collect', minSuccess: '10%' } },
        dag: {},
      },
      { list: () => [1], send: () => 2 },
    )
    expect(workflow.record.shape.steps[0]).toMatchObject({
      name: 'send[]',
      kind: 'map',
      onFailure: 'continue',
    })
    expect(workflow.steps[1]!.map).toEqual({
      part: 'join',
      of: 'map',
      collects: { minSuccess: { percent: 10 } },
    })
  })

  it.each([
    [{ minSuccess: 3 }, /minSuccess is given, but without onFailure: 'collect'/],
    [{ onFailure: 'collect', minSuccess: 0 }, /minSuccess/],
    [
      { onFailure: 'collect', minSuccess: '0%' },
      /minSuccess is "0%", and must be a whole number of items, or a text like '90%'/,
    ],
    [{ onFailure: 'collect', minSuccess: '101%' }, /minSuccess/],
    [{ onFailure: 'continue' }, /onFailure/],
  ])('refuses %j', (options, message) => {
    const map = { over: () => [1], run: () => 1, ...options } as never
    expect(() => define('bad', { version: 1 }).map('each', map)).toThrow(message)
  })
})
