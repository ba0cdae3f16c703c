import { define, RunFailedError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
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
    expect(found?.status).toBe('cancelled')
  })
})
