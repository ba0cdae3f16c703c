import { createEngine, define, type Engine, PermanentError, unchecked } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { inSchema } from '../src/connection/statement.ts'
import { postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const WORKERS = 3
const RUNS = 20

describe.each(servers)('children of several workers on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await postgres(database.pool).migrate()
  })
  afterAll(() => database.drop())

  /** Engines with adapters of their own, like processes. */
  async function work(workflow: Parameters<typeof createEngine>[0]['workflows']) {
    const engines = Array.from({ length: WORKERS }, () =>
      createEngine({ adapter: postgres(database.url), workflows: workflow! }),
    )
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
    })
    await Promise.all(engines.map((engine) => engine.start()))
    return engines[0]!
  }

  it('bring their outputs, whichever worker ends them', async () => {
    const child = define('child', { version: 1, input: unchecked<number>() })
      .step('one', { run: ({ input }) => input * 2 })
      .sleep('pause', { dependsOn: ['one'], for: '20ms' })
    const parent = define('parent', { version: 1, input: unchecked<number>() })
      .workflow('fast', child, { input: ({ input }) => input })
      .workflow('later', child, { dependsOn: ['fast'], input: ({ deps }) => deps.fast.one })
    const engine = await work([parent])

    const runs = await engine.runMany(
      parent,
      Array.from({ length: RUNS }, (_, input) => ({ input })),
    )
    const results = await Promise.all(runs.map((run) => run.result()))

    expect(results).toEqual(
      Array.from({ length: RUNS }, (_, n) => ({ fast: { one: n * 2 }, later: { one: n * 4 } })),
    )
  })

  const deleted = define('deleted', { version: 1 }).waitForSignal('go', {})

  it.each([
    { of: 'a step', parent: define('left', { version: 1 }).workflow('wait', deleted, {}), step: 'wait' },
    {
      of: 'an item',
      parent: define('left-items', { version: 1 }).workflow('wait', deleted, {
        over: () => [1],
        input: () => null,
      }),
      step: 'wait[0]',
    },
  ])(
    'of $of are missed by the doctor once somebody has deleted them, and can be started again',
    async ({ parent, step }) => {
      const engine = await work([parent])
      const run = await engine.run(parent)
      const id = await startedBy(engine, run)
      await vi.waitFor(
        async () => expect((await run.explain()).steps.map(({ reason }) => reason)).toContain('child'),
        10_000,
      )
      const missing = async () =>
        (await engine.doctor()).findings.filter(({ type }) => type === 'stranded_step')
      const before = await missing()
      await deleteRun(id)

      const findings = await missing()
      await engine.runs.handle(run.id).retryStep(step)
      await engine.signal(await startedBy(engine, run), 'go', 7)

      await run.result()
      expect(before).toEqual([])
      expect(findings).toMatchObject([
        { runId: run.id, step, fault: 'childless', remedy: expect.stringMatching(/^Retry the step: /) },
      ])
    },
  )

  async function startedBy(engine: Engine, run: { readonly id: string }): Promise<string> {
    return vi.waitFor(async () => {
      const found = await engine.runs.list({ parentId: run.id })
      expect(found).toHaveLength(1)
      return found[0]!.id
    }, 10_000)
  }

  async function deleteRun(id: string): Promise<void> {
    const { schema } = postgres(database.pool)
    for (const table of ['workflow_children', 'workflow_steps'])
      await database.pool.query(inSchema(`delete from belay.${table} where run_id = $1`, schema), [id])
    await database.pool.query(inSchema('delete from belay.workflow_runs where id = $1', schema), [id])
  }

  it('of a fan are undone when one of them fails, and each is undone once', async () => {
    const done: number[] = []
    const undone: number[] = []
    const child = define('fan-child', { version: 1, input: unchecked<number>() })
      .step('one', {
        run: ({ input }) => void done.push(input),
        compensate: ({ input }) => void undone.push(input),
      })
      .step('two', {
        dependsOn: ['one'],
        run: ({ input }) => {
          if (input === 50) throw new PermanentError('no')
        },
      })
    const parent = define('fan-parent', { version: 1, input: unchecked<{ fails: boolean }>() }).workflow(
      'each',
      child,
      { over: ({ input }) => Array.from({ length: 60 }, (_, n) => (input.fails ? n : -n)), concurrency: 25 },
    )
    const engine = await work([parent])

    const good = await engine.run(parent, { fails: false })
    const bad = await engine.run(parent, { fails: true })
    const { each } = await good.result()
    const error = await bad.result().catch((thrown: unknown) => thrown)

    expect(each).toHaveLength(60)
    expect(String(error)).toContain('each[50]')
    const ofBad = done.filter((n) => n > 0).toSorted((one, other) => one - other)
    expect(undone.filter((n) => n > 0).toSorted((one, other) => one - other)).toEqual(ofBad)
  })

  it('are undone with their parents, in order', async () => {
    const moments: string[] = []
    const told = (key: string) => void moments.push(key)
    const child = define('undone-child', { version: 1 })
      .step('one', { run: () => 1, compensate: ({ runId }) => told(`one ${runId}`) })
      .step('two', { dependsOn: ['one'], run: () => 2, compensate: ({ runId }) => told(`two ${runId}`) })
    const parent = define('undone-parent', { version: 1, retry: false })
      .step('before', { run: () => 0, compensate: ({ runId }) => told(`before ${runId}`) })
      .workflow('middle', child, { dependsOn: ['before'] })
      .step('breaks', {
        dependsOn: ['middle'],
        run: () => {
          throw new PermanentError('no')
        },
      })
    const engine = await work([parent])

    const startedAt = Date.now()
    const runs = await engine.runMany(
      parent,
      Array.from({ length: RUNS }, () => ({})),
    )
    await Promise.allSettled(runs.map((run) => run.result()))

    // The ends of the children wake their parents: nobody looks at intervals.
    expect(Date.now() - startedAt).toBeLessThan(30_000)
    for (const { id } of runs) {
      const [found] = await engine.runs.list({ parentId: id })
      expect(found?.status).toBe('cancelled')
      expect(moments.filter((moment) => moment.endsWith(id) || moment.endsWith(found!.id))).toEqual([
        `two ${found?.id}`,
        `one ${found?.id}`,
        `before ${id}`,
      ])
    }
  })
})
