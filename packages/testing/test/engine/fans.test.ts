import { define, defineGraph, RunFailedError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, StoppableClock, statuses } from './bench-of-engines.ts'

interface Line {
  readonly sku: string
}

const LINES: readonly Line[] = [{ sku: 'a' }, { sku: 'b' }, { sku: 'c' }]

/** A child that notes what it does, and fails for one of the items. */
function noting(failing?: string) {
  const told: string[] = []
  const child = define('pack', { version: 1, input: unchecked<Line>() })
    .step('take', {
      run: ({ input }) => {
        told.push(`take ${input.sku}`)
        return `taken ${input.sku}`
      },
      compensate: ({ input }) => {
        told.push(`put back ${input.sku}`)
      },
    })
    .step('wrap', {
      dependsOn: ['take'],
      retry: false,
      run: ({ input }) => {
        if (input.sku === failing) throw new Error(`no paper for ${input.sku}`)
        told.push(`wrap ${input.sku}`)
      },
    })
  return { told, child }
}

/** A child that waits for a signal. */
const slow = define('slow', { version: 1, input: unchecked<Line>() })
  .step('begin', { run: ({ input }) => input.sku, compensate: () => {} })
  .waitForSignal('go', { dependsOn: ['begin'], schema: unchecked<number>() })

const slowOrder = define('order', { version: 1, input: unchecked<readonly Line[]>() }).workflow(
  'pack',
  slow,
  {
    over: ({ input }) => input,
    itemKey: ({ sku }) => sku,
  },
)

describe('a fan of children', () => {
  it('starts a child for each item, and its output is theirs, in the order of the items', async () => {
    const { clock, worker } = engines()
    const { child } = noting()
    const order = define('order', { version: 1, input: unchecked<readonly Line[]>() })
      .workflow('pack', child, { over: ({ input }) => input, itemKey: ({ sku }) => sku })
      .step('send', { dependsOn: ['pack'], run: ({ deps }) => deps.pack.map(({ take }) => take) })
    const engine = await worker({ workflows: [order] })

    const run = await engine.run(order, LINES)
    const { send } = await clock.runUntil(run.result())

    expect(send).toEqual(['taken a', 'taken b', 'taken c'])
    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ key }) => key).toSorted()).toEqual(
      LINES.map(({ sku }) => `child:${run.id}:pack[${sku}]`),
    )
    expect(statuses(await run.status())).toMatchObject({ 'pack[a]': 'completed', pack: 'completed' })
  })

  it('computes the input and the key of each child', async () => {
    const { clock, worker } = engines()
    const { child } = noting()
    const order = define('order', { version: 1 })
      .step('prefix', { run: () => 'x' })
      .workflow('pack', child, {
        dependsOn: ['prefix'],
        over: () => [1, 2],
        input: ({ item, index, deps }) => ({ sku: `${deps.prefix}${item}/${index}` }),
        key: ({ item }) => `line:${item}`,
      })
    const engine = await worker({ workflows: [order] })

    const run = await engine.run(order)
    const { pack } = await clock.runUntil(run.result())

    expect(pack.map(({ take }) => take)).toEqual(['taken x1/0', 'taken x2/1'])
    expect(await engine.runs.list({ key: 'line:2' })).toMatchObject([{ parentId: run.id }])
  })

  it('over nothing completes at once', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowOrder] })

    const run = await engine.run(slowOrder, [])

    expect(await clock.runUntil(run.result())).toEqual({ pack: [] })
  })

  it('has no more children under way than concurrency says', async () => {
    const { clock, worker } = engines()
    const limited = define('limited', { version: 1, input: unchecked<readonly Line[]>() }).workflow(
      'pack',
      slow,
      { over: ({ input }) => input, concurrency: 2 },
    )
    const engine = await worker({ workflows: [limited] })
    const run = await engine.run(limited, LINES)
    await clock.advance('1s')

    const begun = await engine.runs.list({ parentId: run.id })
    await engine.signal(begun[0]!, 'go', 1)
    await clock.advance('1s')

    expect(begun).toHaveLength(2)
    expect(await engine.runs.list({ parentId: run.id })).toHaveLength(3)
  })

  it('whose children nobody waits for completes with their ids', async () => {
    const { clock, worker } = engines()
    const detached = define('detached', { version: 1 }).workflow('pack', slow, {
      over: () => LINES,
      detached: true,
    })
    const engine = await worker({ workflows: [detached] })

    const run = await engine.run(detached)
    const { pack } = await clock.runUntil(run.result())

    const children = await engine.runs.list({ parentId: run.id })
    expect(pack.map(({ runId }) => runId).toSorted()).toEqual(children.map(({ id }) => id).toSorted())
  })

  it('explains for which child each item waits', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowOrder] })
    const run = await engine.run(slowOrder, LINES)
    await clock.advance('1s')

    const { steps } = await run.explain()

    const [b] = (await engine.runs.list({ key: `child:${run.id}:pack[b]` })) ?? []
    expect(steps).toContainEqual(
      expect.objectContaining({
        step: 'pack[b]',
        reason: 'child',
        sentence: `"pack[b]" waits for its child, run ${b?.id} of "slow" version 1, which is waiting.`,
        childRunId: b?.id,
      }),
    )
  })

  it('is the same as data', async () => {
    const { clock, worker } = engines()
    const { child } = noting()
    const graph = {
      steps: {
        pack: { workflow: 'pack', over: 'lines', itemKey: 'sku', input: 'line', onFailure: 'collect' },
      },
      dag: {},
    } as const
    const order = defineGraph('order', graph, {
      lines: () => ['a', 'b'],
      sku: ((item: string) => item) as never,
      line: ((context: { readonly item: string }) => ({ sku: context.item })) as never,
    })
    const engine = await worker({ workflows: [order, child] })

    const run = await engine.run(order, undefined)

    expect(await clock.runUntil(run.result())).toEqual({
      pack: [
        { status: 'completed', output: { take: 'taken a' } },
        { status: 'completed', output: { take: 'taken b' } },
      ],
    })
  })
})

describe('the failure of a child of a fan', () => {
  it('fails the run: the other children are undone, after what depended on them', async () => {
    const { clock, worker } = engines()
    const { child, told } = noting('b')
    const order = define('order', { version: 1 })
      .step('charge', { run: () => {}, compensate: () => void told.push('refund') })
      .workflow('pack', child, { dependsOn: ['charge'], over: () => LINES, itemKey: ({ sku }) => sku })
    const engine = await worker({ workflows: [order] })

    const run = await engine.run(order)
    const error = await clock.runUntil(run.result().catch((thrown: unknown) => thrown))

    expect(RunFailedError.is(error)).toBe(true)
    expect(String(error)).toContain('no paper for b')
    expect(told.filter((text) => text.startsWith('put')).toSorted()).toEqual([
      'put back a',
      'put back b',
      'put back c',
    ])
    expect(told.at(-1)).toBe('refund')
    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'cancelled', 'compensated'])
  })

  it('is collected, and undone with the others when the run fails later', async () => {
    const { clock, worker } = engines()
    const { child, told } = noting('b')
    const order = define('order', { version: 1 })
      .workflow('pack', child, { over: () => LINES, onFailure: 'collect', minSuccess: '60%' })
      .step('send', {
        dependsOn: ['pack'],
        retry: false,
        run: ({ deps }) => {
          told.push(deps.pack.map(({ status }) => status).join())
          throw new Error('no van')
        },
      })
    const engine = await worker({ workflows: [order] })

    const run = await engine.run(order)
    await clock.runUntil(run.result().catch(() => {}))

    expect(told).toContain('completed,failed,completed')
    expect(told.filter((text) => text.startsWith('put')).toSorted()).toEqual([
      'put back a',
      'put back b',
      'put back c',
    ])
    expect(statuses(await run.status())).toMatchObject({
      'pack[0]': 'compensated',
      'pack[1]': 'compensated',
      'pack[2]': 'compensated',
    })
  })

  it('fails the fan below minSuccess, and a retry starts other children', async () => {
    const { clock, worker } = engines()
    const { child } = noting('b')
    let wanted: Line[] = [{ sku: 'b' }, { sku: 'a' }]
    const order = define('order', { version: 1 }).workflow('pack', child, {
      over: () => wanted,
      onFailure: 'collect',
      minSuccess: 2,
    })
    const engine = await worker({ workflows: [order] })
    const run = await engine.run(order)
    const error = await clock.runUntil(run.result().catch((thrown: unknown) => thrown))
    wanted = [{ sku: 'c' }]

    await run.retry()
    await clock.runUntil(run.result().catch(() => {}))

    expect(String(error)).toContain('1 completed and 1 failed')
    // The items are kept, and their children are of another round.
    const keys = (await engine.runs.list({ parentId: run.id })).map(({ key }) => key)
    expect(keys).toContain(`child:${run.id}:pack[0]:2`)
  })
})

describe('a fan whose children have not ended', () => {
  it('cancels and undoes them when its run is cancelled', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowOrder] })
    const run = await engine.run(slowOrder, LINES)
    await clock.advance('1s')

    await run.cancel()
    await clock.runUntil(run.result().catch(() => {}))

    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect((await run.status()).status).toBe('cancelled')
  })

  it('pauses and resumes them with its run', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowOrder] })
    const run = await engine.run(slowOrder, LINES)
    await clock.advance('1s')
    const states = async () => (await engine.runs.list({ parentId: run.id })).map(({ status }) => status)

    await run.pause()
    const paused = await states()
    await run.resume()

    expect(paused).toEqual(['paused', 'paused', 'paused'])
    expect(await states()).toEqual(['waiting', 'waiting', 'waiting'])
  })

  it('goes on with a stand-in for an item that an operator skips', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowOrder] })
    const run = await engine.run(slowOrder, [{ sku: 'a' }])
    await clock.advance('1s')

    await run.skipStep('pack[a]', { output: { begin: 'by hand', go: 1 } })

    expect(await clock.runUntil(run.result())).toEqual({ pack: [{ begin: 'by hand', go: 1 }] })
  })

  it('is finished by another worker after the first has died', async () => {
    const { clock, worker, adapter } = engines()
    const stoppable = new StoppableClock(clock)
    const first = await worker({ workflows: [slowOrder], clock: stoppable })
    const run = await first.run(slowOrder, LINES)
    await clock.advance('5ms')
    stoppable.stop()
    const second = await worker({ workflows: [slowOrder] })
    await clock.advance('2m')

    for (const child of await second.runs.list({ parentId: run.id })) await second.signal(child, 'go', 1)

    const other = second.runs.handle(run.id)
    expect(await clock.runUntil(other.result())).toMatchObject({ pack: [{ go: 1 }, { go: 1 }, { go: 1 }] })
    expect(await adapter.listRuns({ parentId: run.id, limit: 10 })).toHaveLength(3)
  })
})
