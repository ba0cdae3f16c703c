import { createEngine, define, defineGraph, PermanentError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

interface Order {
  readonly parcels: readonly string[]
}

interface Made {
  readonly concurrency?: number
  readonly compensateOn?: 'started'
  readonly refuses?: boolean
}

/** A map of parcels, of which those named "bad" fail, "slow" takes long, and "odd" returns nothing that can be stored. */
function made({ concurrency, compensateOn, refuses = false }: Made = {}) {
  const adapter = memory()
  const calls: string[] = []
  const undone: unknown[] = []
  let undosFail = 0
  const workflow = define('order', { version: 1, input: unchecked<Order>(), retry: false })
    .step('open', { run: () => 'open', compensate: () => void calls.push('close') })
    .map('ship', {
      dependsOn: ['open'],
      over: ({ input }) => input.parcels,
      itemKey: (parcel) => parcel,
      concurrency,
      run: async ({ item }) => {
        await new Promise<void>((resolve) => void adapter.clock.after(item === 'slow' ? 900 : 10, resolve))
        if (item === 'bad') throw new PermanentError('lost')
        calls.push(`ship ${item}`)
        return item === 'odd' ? (1n as unknown as string) : `shipped ${item}`
      },
      compensateOn,
      compensateAll: {
        retry: { attempts: 3, initial: '1s' },
        run: ({ items, deps, input, idempotencyKey, cause }) => {
          calls.push('recall')
          if (undosFail > 0) {
            undosFail -= 1
            throw new Error('busy')
          }
          undone.push({
            items: items.map(
              ({ item, itemKey, index, undoOf, output }) => `${index} ${itemKey} ${item} ${undoOf} ${output}`,
            ),
            ...{
              deps,
              parcels: input.parcels.length,
              cause: cause.type,
              key: idempotencyKey.replace(/^[^:]*:/, ''),
            },
          })
        },
      },
    })
    .step('invoice', {
      dependsOn: ['ship'],
      run: () => {
        if (refuses) throw new PermanentError('refused')
        calls.push('invoice')
      },
      compensate: () => void calls.push('credit'),
    })
    .step('thank', {
      dependsOn: ['invoice'],
      run: ({ input }) => {
        if (input.parcels.includes('rude')) throw new PermanentError('no thanks')
      },
    })
  return { adapter, workflow, calls, undone, failUndos: (times: number) => (undosFail = times) }
}

async function perform(parcels: readonly string[], of: ReturnType<typeof made>) {
  const { adapter, workflow } = of
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow, { parcels })
  const over = async () => {
    const result = run.result()
    await adapter.clock.runUntil(result.then(String, String))
    assertInvariants(adapter.dump())
    return result.then(String, (error: Error) => error.message)
  }
  const message = await over()
  const status = async () => (await engine.runs.get(run.id))?.status
  return { run, over, message, status, close: () => adapter.clock.runUntil(engine.close()) }
}

describe('compensateAll', () => {
  it('is called once for all items, after what depends on the map and before what the map depends on', async () => {
    const of = made()
    const { message, close } = await perform(['a', 'b', 'rude'], of)
    expect(of.undone).toEqual([
      {
        items: [
          '0 a a completed shipped a',
          '1 b b completed shipped b',
          '2 rude rude completed shipped rude',
        ],
        ...{ deps: { open: 'open' }, parcels: 3, cause: 'step_failed', key: 'ship[]:undo' },
      },
    ])
    expect(of.calls.slice(-4)).toEqual(['invoice', 'credit', 'recall', 'close'])
    expect(message).toMatch(/no thanks\. Undone: 3 of 3/)
    await close()
  })

  it('is called for the items that completed although the join never ran, also for those that ended late', async () => {
    const of = made()
    const { status, close } = await perform(['a', 'bad', 'slow'], of)
    expect(of.undone).toMatchObject([
      { items: ['0 a a completed shipped a', '2 slow slow completed shipped slow'] },
    ])
    expect(await status()).toBe('compensated')
    await close()
  })

  it('is not called if no item has an effect', async () => {
    const of = made()
    const { status, close } = await perform(['bad'], of)
    expect(of.calls).toEqual(['close'])
    expect(await status()).toBe('compensated')
    await close()
  })

  it('is not called for a map without items', async () => {
    const of = made({ refuses: true })
    const { close } = await perform([], of)
    expect(of.calls).toEqual(['close'])
    await close()
  })

  it('gets an item of which the effect is there, but whose output could not be stored', async () => {
    const of = made()
    const { message, close } = await perform(['odd'], of)
    expect(of.undone).toMatchObject([{ items: ['0 odd odd failed undefined'] }])
    expect(message).toMatch(/Undone: 2 of 2\.$/)
    await close()
  })

  it("gets items that may have an effect with compensateOn: 'started'", async () => {
    const of = made({ compensateOn: 'started', concurrency: 1 })
    const { close } = await perform(['a', 'bad', 'c'], of)
    expect(of.undone).toMatchObject([{ items: ['0 a a completed shipped a', '1 bad bad failed undefined'] }])
    await close()
  })

  it('is retried, parks the run when it gives up, and can be retried or skipped by the name of the step', async () => {
    const of = made({ refuses: true })
    of.failUndos(4)
    const { run, over, status, close } = await perform(['a'], of)
    expect(await status()).toBe('compensation_failed')
    expect(of.calls.filter((call) => call === 'recall')).toHaveLength(3)
    await run.retryCompensation('ship[]')
    await over()
    expect(await status()).toBe('compensated')
    expect(of.undone).toHaveLength(1)
    await close()
  })

  it('lets the map decide its items anew when the run is retried', async () => {
    const of = made()
    const { run, over, close } = await perform(['a', 'rude'], of)
    of.calls.length = 0
    await run.retry()
    await over()
    expect(of.calls).toEqual(['ship a', 'ship rude', 'invoice', 'credit', 'recall', 'close'])
    expect(of.undone).toHaveLength(2)
    expect(of.undone[1]).toMatchObject({ key: 'ship[]:2:undo' })
    await close()
  })

  it('may not be given with compensate', () => {
    const map = { over: () => [1], run: () => 1, compensate: () => {}, compensateAll: () => {} }
    expect(() => define('both', { version: 1 }).map('each', map)).toThrow(
      /compensate and compensateAll are both given/,
    )
  })

  it('is the same as data', () => {
    const recall = () => {}
    const steps = {
      ship: { over: 'list', handler: 'ship', compensateAll: { handler: 'recall', retries: 1 } },
    }
    const workflow = defineGraph('order', { steps, dag: {} }, { list: () => [1], ship: () => 2, recall })
    expect(workflow.steps[0]!.compensation).toMatchObject({ run: recall, retry: { attempts: 2 } })
    expect(workflow.steps[0]!.map).toMatchObject({ item: { compensation: null } })
  })

  it('is part of the shape', () => {
    const map = { over: () => [1], run: () => 1, compensateAll: () => {} }
    const { record } = define('shape', { version: 1 }).map('each', map)
    expect(record.shape.steps[0]).toMatchObject({ compensate: 'completed', compensateAll: true })
  })
})
