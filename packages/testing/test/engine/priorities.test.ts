import { define, type RunHandle } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** A workflow whose handlers note their runs' keys in order. */
function noting() {
  const order: unknown[] = []
  const workflow = define('noting', { version: 1 }).step('a', { run: ({ input }) => order.push(input) })
  return { order, workflow }
}

/** A run whose second step fails, and whose first has to be undone. */
function failing(undone: () => void) {
  return define('failing', { version: 1 })
    .step('reserve', { run: () => 1, compensate: undone })
    .step('charge', {
      dependsOn: ['reserve'],
      retry: false,
      run: () => {
        throw new Error('declined')
      },
    })
}

describe('priorities', () => {
  it('decide which runs begin first, by the run, by its workflow and by its steps', async () => {
    const { clock, engine, worker } = engines()
    const { order, workflow } = noting()
    const urgent = define('urgent', { version: 1, priority: 20 }).step('a', {
      priority: 5,
      run: ({ input }) => order.push(input),
    })
    const starter = engine({ workflows: [workflow, urgent] })
    const runs = [
      await starter.run(workflow, 'plain'),
      await starter.run(workflow, '22', { priority: 22 }),
      await starter.run(urgent, '20 and 5'),
      await starter.run(urgent, '1 and 5', { priority: 1 }),
    ]

    await worker({ workflows: [workflow, urgent], concurrency: 1 })
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))

    expect(order).toEqual(['20 and 5', '22', '1 and 5', 'plain'])
    expect((await starter.runs.get(runs[2]!))?.priority).toBe(20)
    expect((await starter.runs.get(runs[0]!))?.priority).toBe(0)
  })

  it('can be changed while runs wait, for one or for many', async () => {
    const { clock, engine, worker } = engines()
    const { order, workflow } = noting()
    const starter = engine({ workflows: [workflow] })
    const start = (input: string) => starter.run(workflow, input)
    const runs: RunHandle[] = [await start('a'), await start('b'), await start('c')]

    expect(await starter.runs.setPriority(runs[1]!.id, 3, { by: 'ann', reason: 'a customer waits' })).toBe(
      true,
    )
    const many = await starter.runs.setPriorityMany([runs[2]!.id], 4)
    await worker({ workflows: [workflow], concurrency: 1 })
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))

    expect(many).toMatchObject({ matched: 1, changed: 1 })
    expect(order).toEqual(['c', 'b', 'a'])
    expect(await runs[1]!.history()).toMatchObject([
      {
        action: 'set_priority',
        by: 'ann',
        reason: 'a customer waits',
        change: { priority: { from: 0, to: 3 } },
      },
    ])
  })

  it('are inherited by children', async () => {
    const { clock, worker } = engines()
    const { workflow } = noting()
    const parent = define('parent', { version: 1 }).workflow('child', workflow, { input: () => 'child' })
    const made = await worker({ workflows: [parent, workflow] })
    const run = await made.run(parent, undefined, { priority: 7 })
    await clock.runUntil(run.result())

    expect(await made.runs.list({ parentId: run.id })).toMatchObject([{ priority: 7 }])
  })

  it.each([-1, 1.5, 1_001, '5', Number.NaN, null, 5n, new Date(0), {}])(
    'are refused if they are %o',
    async (given) => {
      const { engine } = engines()
      const { workflow } = noting()
      const starter = engine({ workflows: [workflow] })
      const run = await starter.run(workflow, 'x')
      const priority = given as number
      const refused = { code: 'invalid_option', message: expect.stringContaining('priority') }

      await expect(starter.run(workflow, 'y', { priority })).rejects.toMatchObject(refused)
      await expect(starter.runs.setPriority(run.id, priority)).rejects.toMatchObject(refused)
      await expect(starter.runs.setPriorityMany([run.id], priority)).rejects.toMatchObject(refused)
      expect(() => define('bad', { version: 1, priority })).toThrow(/priority/)
      expect(() => workflow.step('b', { priority, run: () => 1 })).toThrow(/priority/)
    },
  )
})

describe('an undo', () => {
  it('begins before ten thousand ready steps, within a few settlements', async () => {
    const { clock, engine, worker } = engines()
    let [ended, endedAtUndo] = [0, Number.POSITIVE_INFINITY]
    const flood = define('flood', { version: 1 }).step('a', { run: () => (ended += 1) })
    const failed = failing(() => {
      endedAtUndo = ended
    })
    const starter = engine({ workflows: [flood, failed] })
    await starter.runMany(
      flood,
      Array.from({ length: 10_000 }, () => ({})),
    )
    const run = await starter.run(failed, undefined, { priority: 1_000 })

    await worker({ workflows: [flood, failed], concurrency: 2 })
    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).status).toBe('compensated')
    // What was leased before. In the order of time, the undo would come after all of them.
    expect(endedAtUndo).toBeLessThan(50)
  })
})
