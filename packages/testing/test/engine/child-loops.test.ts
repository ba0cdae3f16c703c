import { define, defineGraph, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants } from '../../src/index.ts'
import { engines, statuses } from './bench-of-engines.ts'

/** A child that notes what it does with its page, and fails for one of them. */
function noting(failing?: number) {
  const told: string[] = []
  const fails = { at: failing }
  const child = define('page', { version: 1, input: unchecked<{ page: number }>() })
    .step('fetch', {
      run: ({ input }) => {
        told.push(`fetch ${input.page}`)
        return input.page
      },
      compensate: ({ input }) => void told.push(`remove ${input.page}`),
    })
    .step('check', {
      dependsOn: ['fetch'],
      retry: false,
      run: ({ input }) => {
        if (input.page === fails.at) throw new Error(`page ${input.page} is torn`)
      },
    })
  return { told, child, fails }
}

/** Imports so many pages, one child after the other, and publishes them. */
function importing(pages: number, { failing, refused }: { failing?: number; refused?: boolean } = {}) {
  const { told, child, fails } = noting(failing)
  const refusal = { refused: refused ?? false }
  const workflow = define('import', { version: 1 })
    .step('open', { run: () => 10, compensate: () => void told.push('close') })
    .repeat('read', child, {
      dependsOn: ['open'],
      input: ({ round, last, deps }) => ({ page: last === undefined ? deps.open + round : last.fetch + 1 }),
      until: ({ output, deps }) => output.fetch === deps.open + pages,
    })
    .step('publish', {
      dependsOn: ['read'],
      retry: false,
      run: ({ deps }) => {
        if (refusal.refused) throw new Error('refused')
        return deps.read.fetch
      },
      compensate: () => void told.push('withdraw'),
    })
  return { told, child, workflow, fails, refusal }
}

/** A child that waits for a signal. */
const slow = define('slow', { version: 1, input: unchecked<{ page: number }>() })
  .step('begin', { run: ({ input }) => input.page, compensate: () => {} })
  .waitForSignal('go', { dependsOn: ['begin'], schema: unchecked<number>() })

const slowImport = define('import', { version: 1 }).repeat('read', slow, {
  input: ({ round }) => ({ page: round }),
  until: ({ round }) => round === 2,
})

describe('a loop of children', () => {
  it('starts a child in each round, until until says so, and its output is that of the last child', async () => {
    const { clock, worker, adapter } = engines()
    const { workflow, told } = importing(3)
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    const outputs = await clock.runUntil(run.result())

    expect(outputs).toEqual({ open: 10, read: { fetch: 13 }, publish: 13 })
    expect(told).toEqual(['fetch 11', 'fetch 12', 'fetch 13'])
    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ key }) => key).toSorted()).toEqual(
      [1, 2, 3].map((round) => `child:${run.id}:read[${round}]`),
    )
    expect(statuses(await run.status())).toMatchObject({ 'read[3]': 'completed', read: 'completed' })
    assertInvariants(adapter.dump())
  })

  it('gives input, key, until and delay the round and what the round before left', async () => {
    const { clock, worker } = engines()
    const { child } = noting()
    const calls: string[] = []
    const workflow = define('import', { version: 1 }).repeat('read', child, {
      first: () => ({ fetch: 40 }),
      input: ({ last, round }) => ({ page: last.fetch + round }),
      key: ({ round, last }) => `page:${round}:${last.fetch}`,
      until: ({ output, round }) => {
        calls.push(`${round} ${output.fetch}`)
        return round === 2
      },
      delay: () => '1h',
    })
    const engine = await worker({ workflows: [workflow] })
    const begunAt = clock.now()

    const run = await engine.run(workflow)
    const { read } = await clock.runUntil(run.result(), { limit: '2h' })

    expect(read).toEqual({ fetch: 43 })
    expect(calls).toEqual(['1 41', '2 43'])
    expect(clock.now() - begunAt).toBeGreaterThanOrEqual(3_600_000)
    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ key }) => key).toSorted()).toEqual(['page:1:40', 'page:2:41'])
  })

  it('finds each child by the key that it was given when it undoes it', async () => {
    const { clock, worker, adapter } = engines()
    const { child, told } = noting()
    const workflow = define('import', { version: 1 })
      .repeat('read', child, {
        input: ({ round }) => ({ page: round }),
        key: ({ round, last }) => `page:${round}:${last?.fetch}`,
        until: ({ round }) => round === 2,
      })
      .step('publish', {
        dependsOn: ['read'],
        retry: false,
        run: () => {
          throw new Error('refused')
        },
      })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect(told).toEqual(['fetch 1', 'fetch 2', 'remove 2', 'remove 1'])
    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ key, status }) => `${key} ${status}`).toSorted()).toEqual([
      'page:1:undefined cancelled',
      'page:2:1 cancelled',
    ])
    assertInvariants(adapter.dump())
  })

  it('explains for which child its round waits, and holds no worker meanwhile', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowImport] })
    const run = await engine.run(slowImport)
    await clock.advance('1s')

    const { steps } = await run.explain()

    const [child] = await engine.runs.list({ parentId: run.id })
    expect(steps).toContainEqual(
      expect.objectContaining({
        step: 'read[1]',
        reason: 'child',
        sentence: `"read[1]" waits for its child, run ${child?.id} of "slow" version 1, which is waiting.`,
        childRunId: child?.id,
      }),
    )
    expect((await run.status()).status).toBe('waiting')
    expect(Object.keys(statuses(await run.status()))).not.toContain('read[2]')
  })

  it('whose children nobody waits for starts one after the other, and completes with the last id', async () => {
    const { clock, worker } = engines()
    const workflow = define('import', { version: 1 }).repeat('read', slow, {
      detached: true,
      input: ({ round }) => ({ page: round }),
      until: ({ round }) => round === 3,
    })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    const { read } = await clock.runUntil(run.result())

    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ id }) => id)).toContain(read.runId)
    expect(children.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting'])
  })

  it('is the same as data', async () => {
    const { clock, worker } = engines()
    const { child } = noting()
    const graph = {
      steps: {
        read: { workflow: 'page', until: 'isLast', first: 'begin', input: 'page', onFailure: 'continue' },
      },
      dag: {},
    } as const
    const workflow = defineGraph('import', graph, {
      begin: () => ({ fetch: 0 }),
      page: ((context: { readonly last: { fetch: number } }) => ({ page: context.last.fetch + 1 })) as never,
      isLast: ((context: { readonly round: number }) => context.round === 2) as never,
    })
    const engine = await worker({ workflows: [workflow, child] })

    const run = await engine.run(workflow, undefined)

    expect(await clock.runUntil(run.result())).toEqual({
      read: { status: 'completed', output: { fetch: 2 } },
    })
  })

  it('gives each child no more time than its run has left', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowImport] })
    const endsAt = clock.now() + 60_000
    const run = await engine.run(slowImport, undefined, { deadline: '1m' })
    await clock.advance('20s')
    const [first] = await engine.runs.list({ parentId: run.id })
    await engine.signal(first!, 'go', 1)
    await clock.advance('1s')

    const children = await engine.runs.list({ parentId: run.id })
    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).cause?.type).toBe('deadline')
    expect(children).toHaveLength(2)
    for (const { deadlineAt } of children) {
      expect(Math.abs(Number(deadlineAt) - endsAt)).toBeLessThan(1_000)
    }
    const ended = await engine.runs.list({ parentId: run.id })
    expect(ended.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'compensated'])
  })
})
