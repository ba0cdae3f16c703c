import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, type Edges, type Graph, retry } from '../scenario/index.ts'
import { CaseRun } from '../scenario/run.ts'
import type { Scenario } from '../scenario/scenario.ts'

const OLD: Edges = { a: [], b: ['a'], c: ['b'] }

/** Moves a run to a version with these steps, as the engine does. */
export async function migrate(given: Scenario, run: CaseRun, edges: Edges): Promise<CaseRun> {
  const graph = await given.graph(run.graph.name, edges, run.graph.saved.version + 1)
  await given.operator().migrateRun(run.id, workflowOf(graph))
  return new CaseRun(given.adapter, run.id, graph)
}

/** The parts of a definition that `migrateRun()` reads. */
function workflowOf({ saved }: Graph) {
  const { id: _, ...record } = saved
  return { name: saved.name, version: saved.version, record } as never
}

export const migrationCases: Cases = {
  'a run continues in another version, with new steps before and after those that have ended': async (
    given,
  ) => {
    const old = await given.start(await given.graph('w', OLD))
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(old, 'a'), '"A"')])

    // "x" takes the number of "b"; "b" and "c" move on; "z" is new.
    const run = await migrate(given, old, { a: [], x: ['a'], b: ['a'], c: ['b', 'x'], z: ['c'] })

    expect(await run.record()).toMatchObject({ version: 2, definitionId: run.graph.id, status: 'running' })
    expect(await run.statuses()).toEqual({
      a: 'completed',
      x: 'ready',
      b: 'ready',
      c: 'pending',
      z: 'pending',
    })
    expect((await run.step('a')).output).toBe('"A"')
    await worker.complete(run, 'x', 'b')
    await worker.complete(run, 'c')
    await worker.complete(run, 'z')
    expect(await run.status()).toBe('completed')
  },

  'payloads move with their steps, also when steps swap numbers': async (given) => {
    const old = await given.start(await given.graph('w', { a: [], b: [], c: ['a', 'b'], d: ['c'] }))
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(old, 'a', 'b')
    await worker.settle([completed(a!, '"A"'), completed(b!, '"B"')])

    const run = await migrate(given, old, { b: [], a: [], c: ['a', 'b'] })

    expect([(await run.step('b')).output, (await run.step('a')).output]).toEqual(['"B"', '"A"'])
    const { steps } = await run.read()
    expect(steps.map(({ step, name }) => [step, name])).toEqual([
      [0, 'b'],
      [1, 'a'],
      [2, 'c'],
    ])
    await worker.complete(run, 'c')
    expect(await run.status()).toBe('completed')
  },

  'an old queue row or an old claim takes no step of a run that has moved': async (given) => {
    const graph = await given.graph('w', OLD)
    const old = await given.start(graph)
    const worker = await given.worker()

    const run = await migrate(given, old, { a: [], b: ['a'] })

    expect(await worker.claim(10, [graph])).toEqual([])
    expect(await worker.claim(10, [run.graph])).toMatchObject([{ step: 0, definitionId: run.graph.id }])
  },

  'a late result for the step that had this number before is lost': async (given) => {
    const old = await given.start(await given.graph('w', { a: [], b: [] }))
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(old, 'a', 'b')
    const late = retry(b!, 0)
    await worker.settle([completed(a!), late])
    const run = await migrate(given, old, { a: [], x: ['a'], b: ['x'] })
    const claim = await worker.claimOf(run, 'x')

    expect((await worker.settle([late])).results).toEqual(['lost'])
    expect((await worker.settle([completed(claim)])).results).toEqual(['settled'])
  },

  'a run in which every sink of the new version has completed completes with the move': async (given) => {
    const old = await given.start(await given.graph('w', { a: [], b: ['a'] }))
    const worker = await given.worker()
    const claim = await worker.claimOf(old, 'a')
    await given.operate(old).pause()
    await worker.settle([completed(claim)])

    const run = await migrate(given, old, { a: [] })

    expect(await run.status()).toBe('completed')
  },

  'a paused run moves, and stays paused': async (given) => {
    const old = await given.start(await given.graph('w', OLD))
    const worker = await given.worker()
    await given.operate(old).pause()

    const run = await migrate(given, old, { a: [], n: ['a'], b: ['n'] })

    expect(await run.status()).toBe('paused')
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    for (const name of ['a', 'n', 'b']) await worker.complete(run, name)
    expect(await run.status()).toBe('completed')
  },

  'a run that failed moves, and is retried in the new version': async (given) => {
    const old = await given.start(await given.graph('w', OLD))
    const worker = await given.worker()
    await worker.complete(old, 'a')
    await worker.fail(old, 'b')
    await given.adapter.beginUndo([{ runId: old.id, endsAs: 'failed', undos: [] }])

    const run = await migrate(given, old, { a: [], b: ['a'], d: ['b'] })
    expect(await run.status()).toBe('failed')
    await given.operate(run).retry()

    for (const name of ['b', 'd']) await worker.complete(run, name)
    expect(await run.status()).toBe('completed')
  },

  'moving a run to its own version changes nothing': async (given) => {
    const run = await given.start(await given.graph('w', OLD))
    const before = await given.snapshot()

    expect(await given.operator().migrateRun(run.id, workflowOf(run.graph))).toBe(false)
    expect(await given.snapshot()).toEqual(before)
  },

  'a move that doesn’t fit is refused with all the reasons': async (given) => {
    const run = await given.start(await given.graph('w', { a: [], b: [], c: ['a'], d: ['c'] }))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.take()
    const graph = await given.graph('w', { n: [], a: ['n'], b: [], d: [] }, 2)
    const other = await given.graph('other', { a: [] })
    const before = await given.snapshot()

    const refused = await given
      .operator()
      .migrateRun(run.id, workflowOf(graph))
      .catch((error: unknown) => error)

    expect(refused).toMatchObject({ code: 'action_refused' })
    const message = String((refused as Error).message)
    expect(message).toContain('step "b" is running')
    expect(message).toContain('step "c" is running')
    expect(message).toContain('step "a" has ended, but depends in version 2 on "n", which has not')
    await expect(given.operator().migrateRun(run.id, workflowOf(other))).rejects.toMatchObject({
      message: expect.stringMatching(/it is a run of "w"/),
    })
    expect(await given.snapshot()).toEqual(before)
  },

  'a step that has begun must exist in the new version': async (given) => {
    const run = await given.start(await given.graph('w', OLD))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.settle([retry(await worker.claimOf(run, 'b'), 1_000)])

    await expect(migrate(given, run, { a: [], c: ['a'] })).rejects.toMatchObject({
      code: 'action_refused',
      message: expect.stringMatching(/step "b" is ready, and version 2 has no such step/),
    })
  },

  'a run that is being undone or has completed does not move': async (given) => {
    const graph = await given.graph('w', { a: [] })
    const [stopping, done] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await worker.complete(done, 'a')
    await given.cancel(stopping)
    const next = await given.graph('w', { a: [], b: [] }, 2)

    for (const run of [stopping, done]) {
      const moving = given.operator().migrateRun(run.id, workflowOf(next))
      await expect(moving).rejects.toMatchObject({ code: 'action_refused' })
    }
  },
}
