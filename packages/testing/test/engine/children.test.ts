import { define, RunFailedError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { engines, statuses } from './bench-of-engines.ts'

/** A workflow that notes what it does and undoes. */
function noted() {
  const told: string[] = []
  const note = (text: string) => () => {
    told.push(text)
    return text
  }
  const child = define('child', { version: 1, input: unchecked<{ n: number }>() })
    .step('first', { run: note('first'), compensate: note('undo first') })
    .step('second', { dependsOn: ['first'], run: note('second'), compensate: note('undo second') })
  const parent = define('parent', { version: 1, input: unchecked<{ n: number }>() })
    .step('before', { run: note('before'), compensate: note('undo before') })
    .workflow('middle', child, { dependsOn: ['before'] })
    .step('after', { dependsOn: ['middle'], run: note('after'), compensate: note('undo after') })
  return { told, note, child, parent }
}

describe('a step with a child', () => {
  it('starts a run, waits for it without a worker, and completes with its outputs', async () => {
    const { clock, worker } = engines()
    const { parent, told } = noted()
    const engine = await worker({ workflows: [parent] })

    const run = await engine.run(parent, { n: 1 })
    const result = await clock.runUntil(run.result())

    expect(result).toEqual({
      before: 'before',
      middle: { first: 'first', second: 'second' },
      after: 'after',
    })
    expect(told).toEqual(['before', 'first', 'second', 'after'])
  })

  it('is undone after what depended on it, in the reverse order of the child', async () => {
    const { clock, worker } = engines()
    const { parent, told } = noted()
    const failing = parent.step('last', {
      dependsOn: ['after'],
      retry: false,
      run: () => {
        throw new Error('no')
      },
    })
    const engine = await worker({ workflows: [failing] })

    const startedAt = clock.now()
    const run = await engine.run(failing, { n: 1 })
    const error = await clock.runUntil(run.result().catch((thrown: unknown) => thrown))

    // The end of the child's undo wakes the parent's: no look at intervals does.
    expect(clock.now() - startedAt).toBeLessThan(1_000)

    expect(RunFailedError.is(error)).toBe(true)
    expect(told.slice(4)).toEqual(['undo after', 'undo second', 'undo first', 'undo before'])
    expect(statuses(await run.status())).toMatchObject({ middle: 'compensated', before: 'compensated' })
  })

  it('fails for good when its child fails, with an error that names the child and holds its cause', async () => {
    const { clock, worker } = engines()
    const { note, told } = noted()
    const child = define('child', { version: 1 })
      .step('first', { run: note('first'), compensate: note('undo first') })
      .step('breaks', {
        dependsOn: ['first'],
        retry: false,
        run: () => {
          throw new Error('card declined')
        },
      })
    const parent = define('parent', { version: 1 })
      .step('before', { run: note('before'), compensate: note('undo before') })
      .workflow('middle', child, { dependsOn: ['before'] })
    const engine = await worker({ workflows: [parent] })

    const run = await engine.run(parent)
    await clock.runUntil(run.result().catch(() => {}))

    const { steps, cause } = await run.status()
    const [found] = await engine.runs.list({ workflow: 'child' })
    const failed = steps.find(({ name }) => name === 'middle')
    expect(failed?.error).toMatchObject({
      code: 'child_failed',
      cause: { message: expect.stringContaining('card declined') },
    })
    expect(failed?.error?.message).toContain(found?.id)
    expect(cause).toMatchObject({ type: 'step_failed', step: 'middle' })
    expect(told).toEqual(['before', 'first', 'undo first', 'undo before'])
  })

  it('a retry of the run starts another child', async () => {
    const { clock, worker } = engines()
    let breaks = true
    const child = define('child', { version: 1 }).step('only', {
      retry: false,
      run: () => {
        if (breaks) throw new Error('no')
        return 'done'
      },
    })
    const parent = define('parent', { version: 1 }).workflow('middle', child, {})
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent)
    await clock.runUntil(run.result().catch(() => {}))
    breaks = false

    await run.retry()
    const result = await clock.runUntil(run.result())

    expect(result).toEqual({ middle: { only: 'done' } })
    const runs = await engine.runs.list({ workflow: 'child' })
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'failed'])
  })
})

describe('an end of a child', () => {
  it('for which nobody waits any more is forgotten', async () => {
    const { clock, worker, adapter } = engines()
    const { parent } = waiting()
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent)
    await clock.advance('1s')
    const [child] = await engine.runs.list({ parentId: run.id })

    // The child goes its own way now.
    await run.skipStep('middle', { output: { first: 'by hand', go: 1 } })
    await clock.runUntil(run.result())
    await engine.signal(child!, 'go', 1)
    await clock.advance('5s')

    expect((await engine.runs.get(child!))?.status).toBe('completed')
    expect((await engine.runs.get(run))?.status).toBe('completed')
    const definitionIds = [1, 2, 3]
    expect(await adapter.findRunEnds({ definitionIds, limit: 10 })).toEqual([])
  })
})

/** A parent whose child waits for a signal. */
function waiting() {
  const parts = noted()
  const child = define('child', { version: 1 })
    .step('first', { run: parts.note('first'), compensate: parts.note('undo first') })
    .waitForSignal('go', { dependsOn: ['first'] })
  const parent = define('parent', { version: 1 })
    .step('before', { run: parts.note('before'), compensate: parts.note('undo before') })
    .workflow('middle', child, { dependsOn: ['before'] })
  return { ...parts, child, parent }
}

describe('a run with a child that has not ended', () => {
  it('cancels and undoes the child when it is cancelled, before what the child depends on', async () => {
    const { clock, worker } = engines()
    const { parent, told } = waiting()
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent)
    await clock.advance('1s')

    await run.cancel({ reason: 'enough' })
    await clock.runUntil(run.result().catch(() => {}))

    const [found] = await engine.runs.list({ workflow: 'child' })
    expect(found).toMatchObject({ status: 'cancelled', parentId: run.id })
    expect(told).toEqual(['before', 'first', 'undo first', 'undo before'])
  })

  it('is not kept from its end by a cancellation without undo, which reaches the child', async () => {
    const { clock, worker } = engines()
    const { parent, told } = waiting()
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent)
    await clock.advance('1s')

    await run.cancel({ compensate: false })
    await clock.runUntil(run.result().catch(() => {}))
    await clock.advance('3s')

    const [found] = await engine.runs.list({ workflow: 'child' })
    expect(found?.status).toBe('cancelled')
    expect(told).toEqual(['before', 'first'])
  })

  it('pauses and resumes the child with itself, and leaves a child alone that an operator paused', async () => {
    const { clock, worker } = engines()
    const { parent } = waiting()
    const engine = await worker({ workflows: [parent] })
    const [one, other] = [await engine.run(parent), await engine.run(parent)]
    await clock.advance('1s')
    const childOf = async ({ id }: { readonly id: string }) => (await engine.runs.list({ parentId: id }))[0]!
    await engine.runs.handle((await childOf(other)).id).pause({ by: 'grace' })

    await one.pause()
    await other.pause()
    const paused = [await childOf(one), await childOf(other)].map(({ status }) => status)
    await one.resume()
    await other.resume()

    expect(paused).toEqual(['paused', 'paused'])
    expect((await childOf(one)).status).toBe('waiting')
    expect((await childOf(other)).status).toBe('paused')
  })

  it('explains which child it waits for', async () => {
    const { clock, worker } = engines()
    const { parent } = waiting()
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent)
    await clock.advance('1s')

    const { steps } = await run.explain()

    const [found] = await engine.runs.list({ workflow: 'child' })
    expect(steps).toEqual([
      {
        step: 'middle',
        reason: 'child',
        sentence: `"middle" waits for its child, run ${found?.id} of "child" version 1, which is waiting.`,
        childRunId: found?.id,
        actions: [],
      },
    ])
  })

  it('fails with its deadline, which reaches the child', async () => {
    const { clock, worker } = engines()
    const { parent } = waiting()
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent, undefined, { deadline: '1m' })

    await clock.runUntil(run.result().catch(() => {}))

    const [found] = await engine.runs.list({ workflow: 'child' })
    expect((await run.status()).cause?.type).toBe('deadline')
    expect(found?.status).toBe('compensated')
  })
})

describe('a step with a child, by its options,', () => {
  it('that is detached completes with the id of its child, and is not undone', async () => {
    const { clock, worker } = engines()
    const { note, told, child } = noted()
    const parent = define('parent', { version: 1, input: unchecked<{ n: number }>() })
      .workflow('aside', child, { detached: true })
      .step('last', {
        dependsOn: ['aside'],
        retry: false,
        run: ({ deps }) => {
          note(deps.aside.runId)()
          throw new Error('no')
        },
      })
    const engine = await worker({ workflows: [parent] })

    const run = await engine.run(parent, { n: 1 })
    await clock.runUntil(run.result().catch(() => {}))
    await clock.advance('5s')

    const [found] = await engine.runs.list({ parentId: run.id })
    expect(found?.status).toBe('completed')
    expect(told).toContain(found?.id)
    expect(told).not.toContain('undo first')
  })

  it('that keeps its effects is not undone once it has completed', async () => {
    const { clock, worker } = engines()
    const { told, child } = noted()
    const parent = define('parent', { version: 1, input: unchecked<{ n: number }>() })
      .workflow('kept', child, { compensate: false })
      .waitForSignal('never', { dependsOn: ['kept'] })
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent, { n: 1 })
    await clock.advance('5s')

    await run.cancel()
    await clock.runUntil(run.result().catch(() => {}))

    expect((await engine.runs.list({ parentId: run.id }))[0]?.status).toBe('completed')
    expect(told).toEqual(['first', 'second'])
  })

  it('that goes on after a failure gives its dependents how the child ended', async () => {
    const { clock, worker } = engines()
    const child = define('child', { version: 1 }).step('only', {
      retry: false,
      run: () => {
        throw new Error('no')
      },
    })
    const parent = define('parent', { version: 1 })
      .workflow('tried', child, { onFailure: 'continue' })
      .step('after', { dependsOn: ['tried'], run: ({ deps }) => deps.tried.status })
    const engine = await worker({ workflows: [parent] })

    const run = await engine.run(parent)

    expect(await clock.runUntil(run.result())).toMatchObject({ after: 'failed' })
  })

  it('has the key that it is given, which may belong to no other run', async () => {
    const { clock, worker } = engines()
    const { child } = noted()
    const parent = define('parent', { version: 1, input: unchecked<{ n: number }>() }).workflow(
      'middle',
      child,
      {
        key: ({ input }) => `order:${input.n}`,
      },
    )
    const engine = await worker({ workflows: [parent] })
    await engine.run(child, { n: 2 }, { key: 'order:2' })

    const first = await engine.run(parent, { n: 1 })
    await clock.runUntil(first.result())
    const second = await engine.run(parent, { n: 2 })
    await clock.runUntil(second.result().catch(() => {}))

    expect((await engine.runs.list({ key: 'order:1' }))[0]?.parentId).toBe(first.id)
    const { steps } = await second.status()
    expect(steps[0]?.error?.message).toContain('key "order:2" of workflow "child" belongs to run')
  })

  it('may start its own workflow by name, down to a depth', async () => {
    const { clock, worker } = engines()
    const countdown = define('countdown', { version: 1, input: unchecked<{ n: number }>() }).workflow(
      'next',
      'countdown',
      { when: ({ input }) => input.n > 0, input: ({ input }) => ({ n: input.n - 1 }), depthMax: 3 },
    )
    const engine = await worker({ workflows: [countdown] })

    const shallow = await engine.run(countdown, { n: 3 })
    await clock.runUntil(shallow.result())
    const deep = await engine.run(countdown, { n: 4 })
    const error = await clock.runUntil(deep.result().catch((thrown: unknown) => thrown))

    expect(await engine.runs.count({ workflow: 'countdown', status: 'completed' })).toMatchObject({
      count: 4,
    })
    expect(String(error)).toContain('more than 3 parents above one another')
  })

  it('fails for good if the child refuses its input', async () => {
    const { clock, worker } = engines()
    const child = define('child', { version: 1, input: z.object({ n: z.number() }) }).step('only', {
      run: () => 1,
    })
    const parent = define('parent', { version: 1 }).workflow('middle', child, {
      input: () => ({ n: 'one' as unknown as number }),
    })
    const engine = await worker({ workflows: [parent] })

    const run = await engine.run(parent)
    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).steps[0]).toMatchObject({
      status: 'compensated',
      failures: 0,
      error: { code: 'permanent' },
    })
  })

  it('buries a child that was never started: a worker presumed dead cannot start it late', async () => {
    const { clock, worker } = engines()
    const { child } = noted()
    const parent = define('parent', { version: 1, retry: false }).workflow('middle', child, {
      input: () => {
        throw new Error('no input')
      },
    })
    const engine = await worker({ workflows: [parent] })

    const run = await engine.run(parent)
    await clock.runUntil(run.result().catch(() => {}))
    await clock.advance('3s')

    const [buried] = await engine.runs.list({ parentId: run.id })
    expect(buried).toMatchObject({ status: 'cancelled', key: `child:${run.id}:middle` })
  })
})
