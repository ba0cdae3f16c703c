import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

describe('going forward', () => {
  it('gives a step the outputs of its dependencies, and the run the outputs of all steps', async () => {
    const { clock, worker } = engines()
    const workflow = define('sum', { version: 1 })
      .step('two', { run: () => 2 })
      .step('three', { run: async () => 3 })
      .step('sum', { dependsOn: ['two', 'three'], run: ({ deps }) => deps.two + deps.three })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, undefined)

    expect(await clock.runUntil(run.result())).toEqual({ two: 2, three: 3, sum: 5 })
  })

  it('runs ready steps in parallel: two roots of 700 ms end together in under a second, on one worker', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('parallel', { version: 1 })
      .step('a', { run: () => sleep(700) })
      .step('b', { run: () => sleep(700) })
    const engine = await worker({ workflows: [workflow] })
    const startedAt = clock.now()

    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())

    expect(clock.now() - startedAt).toBeLessThan(1_000)
  })

  it('does not wait for the tick between the steps of a chain', async () => {
    const { clock, worker } = engines()
    const workflow = define('chain', { version: 1 })
      .step('a', { run: () => 1 })
      .step('b', { dependsOn: ['a'], run: () => 2 })
      .step('c', { dependsOn: ['b'], run: () => 3 })
    const engine = await worker({ workflows: [workflow], tick: '1m' })
    const startedAt = clock.now()

    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())

    expect(clock.now()).toBe(startedAt)
  })

  it('keeps other steps moving while one is slow', async () => {
    const { clock, worker, sleep } = engines()
    const slow = define('slow', { version: 1 }).step('sleep', { run: () => sleep(60_000) })
    const quick = define('quick', { version: 1 }).step('go', { run: () => 'done' })
    const engine = await worker({ workflows: [slow, quick] })
    await engine.run(slow, undefined)
    await clock.advance('1s')
    const startedAt = clock.now()

    const run = await engine.run(quick, undefined)
    await clock.runUntil(run.result())

    expect(clock.now() - startedAt).toBeLessThan(200)
  })

  it('runs and leases no more steps at once than its concurrency, while its handlers are slow', async () => {
    const { clock, worker, sleep, adapter } = engines()
    let running = 0
    let most = 0
    const fan = Array.from({ length: 20 }, (_, n) => n)
    const workflow = fan.reduce(
      (flow, n) =>
        flow.step(`s${n}`, {
          run: async () => {
            running += 1
            most = Math.max(most, running)
            await sleep(100)
            running -= 1
          },
        }),
      define('fan', { version: 1 }) as ReturnType<typeof define>,
    )
    const engine = await worker({ workflows: [workflow], concurrency: 3 })

    const run = await engine.run(workflow, undefined)
    await clock.advance('50ms')
    const leased = (await adapter.readRun(run.id))!.steps.filter(({ status }) => status === 'running')
    await clock.runUntil(run.result())

    expect(most).toBe(3)
    expect(leased).toHaveLength(3)
  })

  it('runs a step that takes three times its lease only once', async () => {
    const { clock, worker, sleep } = engines()
    let calls = 0
    const workflow = define('long', { version: 1 }).step('long', {
      run: async () => {
        calls += 1
        await sleep(90_000)
        return calls
      },
    })
    const first = await worker({ workflows: [workflow], lease: '30s' })
    await worker({ workflows: [workflow], lease: '30s' })

    const run = await first.run(workflow, undefined)

    expect(await clock.runUntil(run.result())).toEqual({ long: 1 })
    expect(calls).toBe(1)
  })

  it.each([0, false, '', null, undefined, []])('keeps the output %j as it is', async (output) => {
    const { clock, worker } = engines()
    const seen: unknown[] = []
    const workflow = define('falsy', { version: 1 })
      .step('give', { run: (): unknown => output })
      .step('take', {
        dependsOn: ['give'],
        run: ({ deps }) => {
          seen.push(deps.give)
        },
      })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, undefined)
    const result = await clock.runUntil(run.result())

    expect(seen).toEqual([output])
    expect(result.give).toEqual(output)
    expect('give' in result).toBe(true)
  })

  it('gives every attempt its own copy of input and outputs', async () => {
    const { clock, worker } = engines()
    const seen: unknown[] = []
    const workflow = define('copies', { version: 1 })
      .step('list', { run: () => [1] })
      .step('spoil', {
        dependsOn: ['list'],
        run: ({ deps }) => {
          deps.list.push(2)
        },
      })
      .step('look', {
        dependsOn: ['list', 'spoil'],
        run: ({ deps }) => {
          seen.push(deps.list)
        },
      })
    const engine = await worker({ workflows: [workflow] })

    await clock.runUntil((await engine.run(workflow, undefined)).result())

    expect(seen).toEqual([[1]])
  })
})
