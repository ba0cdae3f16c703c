import { define, PermanentError, RunFailedError, type WorkflowDefinition } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { changed, engines, gate, statuses } from './bench-of-engines.ts'

const circular = () => {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

/** Outputs that cannot be stored, and the error of their step. */
const unstorable: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['2 MiB', () => 'x'.repeat(2 * 1024 * 1024), /the limit is 1048576/],
  ['a bigint', () => ({ id: 1n }), /cannot be stored as JSON/],
  ['a cycle', circular, /cannot be stored as JSON: it holds the object at \$ again, a cycle, at \$\.self/],
  ['a nested function', () => ({ items: [{ price: () => 1 }] }), /a function at \$\.items\[0\]\.price/],
  ['a Map', () => ({ by: new Map([['a', 1]]) }), /an instance of Map at \$\.by/],
  ['an Error', () => [new TypeError('no')], /an instance of TypeError at \$\[0\]/],
  ['U+0000 in a text', () => ({ items: [{}, { name: 'a\0b' }] }), /U\+0000 at \$\.items\[1\]\.name/],
  ['half of a surrogate pair', () => ['fine', '\ud83d'], /half of a surrogate pair at \$\[1\]/],
  [
    'U+0000 in the name of a property',
    () => ({ in: { 'a\0': 1 } }),
    /U\+0000 in the name of a property at \$\.in/,
  ],
]

/** charge → ship: the charge returns the given output, and its refunds are recorded. */
function charging(output: () => unknown, refunds: unknown[]) {
  return define('charging', { version: 1 })
    .step('charge', {
      run: output,
      compensate: ({ output, error, undoOf, idempotencyKey }) => {
        refunds.push({ output, error: error?.message, undoOf, idempotencyKey })
      },
    })
    .step('ship', { dependsOn: ['charge'], run: () => 'shipped' })
}

/** A run that was cancelled without an undo while its first handler ran; the handler waits for the cancellation. */
async function abandoned(make: (cancelled: Promise<void>) => WorkflowDefinition) {
  const { clock, worker } = engines()
  const cancelled = gate()
  const workflow = make(cancelled.passed)
  const engine = await worker({ workflows: [workflow] })
  const begun = gate()
  engine.on('step.started', () => begun.open())
  const run = await engine.run(workflow)
  await clock.runUntil(begun.passed)
  await run.cancel({ compensate: false })
  cancelled.open()
  await clock.runUntil(run.result().catch(() => {}))
  expect((await run.status()).steps[0]).toMatchObject({ status: 'failed', succeeded: true })
  return { clock, run }
}

describe('a step whose output cannot be stored', () => {
  it.each(unstorable)(
    '(%s) has failed, has succeeded, and is undone like a completed one',
    async (_, make, why) => {
      const { clock, worker } = engines()
      const refunds: unknown[] = []
      let charges = 0
      const workflow = charging(() => {
        charges += 1
        return make()
      }, refunds)
      const engine = await worker({ workflows: [workflow] })
      const run = await engine.run(workflow)

      const error = await clock.runUntil(run.result().catch((e: unknown) => e))

      expect(charges).toBe(1)
      expect(refunds).toEqual([
        {
          output: undefined,
          error: expect.stringMatching(why),
          undoOf: 'failed',
          idempotencyKey: `${run.id}:charge:undo`,
        },
      ])
      expect(error).toMatchObject({
        status: 'compensated',
        undo: [{ step: 'charge', result: 'compensated' }],
      })
      expect(statuses(await run.status())).toEqual({ charge: 'compensated', ship: 'cancelled' })
    },
  )

  it('reports that it succeeded, and why it failed, until it is undone', async () => {
    const { clock, worker } = engines()
    const workflow = define('charging', { version: 1 }).step('charge', { run: (): unknown => 1n })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    const [charge] = (await run.status()).steps
    expect(charge).toMatchObject({
      status: 'failed',
      succeeded: true,
      output: undefined,
      error: { code: 'payload_unserialisable' },
    })
    expect(RunFailedError.is(error) && error.undo).toMatchObject([{ step: 'charge', result: 'succeeded' }])
    expect(String(error)).toContain('What "charge" did took effect, and was not undone.')
  })

  it('is also undone if the store refuses an output that the engine considered storable', async () => {
    const { clock, adapter, worker } = engines()
    const refunds: unknown[] = []
    const told: string[] = []
    const workflow = charging(() => 'refused', refunds)
    const picky = changed(adapter, {
      settle: async (settlement) => {
        const refused = settlement.outcomes.some((o) => o.type === 'completed' && o.output === '"refused"')
        if (!refused) return adapter.settle(settlement)
        const results = settlement.outcomes.map(() => ({ refused: 'too deep.' }))
        return { results, claims: [], runs: [], queued: false }
      },
    })
    const engine = await worker({ adapter: picky, workflows: [workflow] })
    engine.on('step.completed', () => told.push('completed'))
    engine.on('step.failed', () => told.push('failed'))
    const run = await engine.run(workflow)

    await clock.runUntil(run.result().catch(() => {}))

    expect(refunds).toMatchObject([
      { output: undefined, error: expect.stringMatching(/stored: too deep\. Return/) },
    ])
    expect(told).toEqual(['failed'])
    expect(statuses(await run.status())).toEqual({ charge: 'compensated', ship: 'cancelled' })
  })

  it('is also undone if its run is cancelled while its handler runs', async () => {
    const { clock, worker } = engines()
    const refunds: unknown[] = []
    const [begun, mayEnd] = [gate(), gate()]
    const workflow = charging(async () => {
      begun.open()
      await mayEnd.passed
      return 1n
    }, refunds)
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(begun.passed)

    await run.cancel()
    mayEnd.open()
    await clock.runUntil(run.result().catch(() => {}))

    expect(refunds).toHaveLength(1)
    expect((await run.status()).status).toBe('cancelled')
  })

  it('still counts as succeeded when it is tried again, and is undone if that attempt fails', async () => {
    const refunds: unknown[] = []
    const ends = [(): unknown => 1n, () => Promise.reject(new PermanentError('second try'))]
    const { clock, run } = await abandoned((cancelled) =>
      charging(() => cancelled.then(() => ends.shift()!()), refunds),
    )
    const refundsBefore = refunds.length

    await run.retry()
    await clock.runUntil(run.result().catch(() => {}))

    expect(refundsBefore).toBe(0)
    expect(refunds).toMatchObject([{ output: undefined, error: 'second try', undoOf: 'failed' }])
    expect((await run.status()).status).toBe('compensated')
  })

  it('is undone with the output that an operator gave it, if it was skipped and the run fails later', async () => {
    const refunds: unknown[] = []
    const { clock, run } = await abandoned((cancelled) =>
      charging(() => cancelled.then(() => 1n), refunds).step('post', {
        dependsOn: ['ship'],
        run: () => {
          throw new PermanentError('no post')
        },
      }),
    )

    await run.skipStep('charge', { output: { id: 'ch_1' } })
    await clock.runUntil(run.result().catch(() => {}))

    expect(refunds).toMatchObject([{ output: { id: 'ch_1' }, undoOf: 'completed', error: undefined }])
    expect(statuses(await run.status())).toMatchObject({ charge: 'compensated', post: 'failed' })
  })

  it('fails like any other if its transaction was rolled back with it', async () => {
    const { clock, worker } = engines()
    const refunds: unknown[] = []
    const workflow = define('transacts', { version: 1 }).step('write', {
      transaction: memoryTransaction(),
      run: (): unknown => 1n,
      compensate: () => {
        refunds.push('undone')
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).steps[0]).toMatchObject({ status: 'failed', succeeded: false })
    expect(refunds).toEqual([])
  })

  it('counts if it ends in the grace period after its timeout', async () => {
    const { clock, worker } = engines()
    const refunds: unknown[] = []
    const workflow = define('late', { version: 1 }).step('charge', {
      timeout: '1s',
      retry: false,
      run: ({ signal }): Promise<unknown> =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(1n))),
      compensate: () => {
        refunds.push('undone')
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    await clock.runUntil(run.result().catch(() => {}))

    expect(refunds).toEqual(['undone'])
    expect((await run.status()).steps[0]).toMatchObject({ succeeded: true })
  })
})

describe('an input or a payload that cannot be stored', () => {
  it.each(unstorable)('(%s) is refused, and nothing is written', async (_, make, why) => {
    const { engine } = engines()
    const workflow = define('input', { version: 1 }).waitForSignal('paid')
    const made = engine({ workflows: [workflow] })
    const run = await made.run(workflow)

    await expect(made.run(workflow, make())).rejects.toMatchObject({ message: expect.stringMatching(why) })
    await expect(run.signal('paid', make())).rejects.toMatchObject({ message: expect.stringMatching(why) })

    expect(await made.runs.list()).toHaveLength(1)
    expect(await run.history()).toEqual([])
  })
})

describe('an output that JSON changes', () => {
  const losses: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      'NaN',
      () => ({ items: [{ price: 1 }, { price: Number.NaN }] }),
      /holds NaN at \$\.items\[1\]\.price.*stored as null/,
    ],
    ['Infinity', () => Number.POSITIVE_INFINITY, /is Infinity, which.*stored as null/],
    ['undefined in an array', () => [1, undefined], /holds undefined at \$\[1\].*stored as null/],
    ['-0', () => ({ change: -0 }), /holds -0 at \$\.change.*stored as 0/],
  ]

  it.each(losses)('(%s) causes a warning, once for each step', async (_, make, warning) => {
    const { clock, worker } = engines()
    const warn = vi.fn()
    const workflow = define('lossy', { version: 1 }).step('a', { run: (): unknown => make() })
    const engine = await worker({
      workflows: [workflow],
      logger: { debug() {}, info() {}, warn, error() {} },
    })

    for (let round = 0; round < 2; round += 1) {
      await clock.runUntil((await engine.run(workflow)).result())
    }

    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(warning), expect.objectContaining({ step: 'a' }))
  })

  it('causes no warning for null, an empty object or a date', async () => {
    const { clock, worker } = engines()
    const warn = vi.fn()
    const workflow = define('whole', { version: 1 }).step('a', {
      run: () => ({
        none: null,
        empty: {},
        at: new Date(0),
        list: [null, []],
        left: undefined,
        text: 'null {}',
      }),
    })
    const engine = await worker({
      workflows: [workflow],
      logger: { debug() {}, info() {}, warn, error() {} },
    })

    await clock.runUntil((await engine.run(workflow)).result())

    expect(warn).not.toHaveBeenCalled()
  })
})
