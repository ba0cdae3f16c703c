import { define, PermanentError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate } from './bench-of-engines.ts'

const never = { attempts: 1 } as const

describe('retrying a run', () => {
  it('runs failed and undone steps again, with fresh outputs, and with another idempotency key for undone steps', async () => {
    const { clock, worker } = engines()
    let broken = true
    let reservations = 0
    const keys: string[] = []
    const undone: unknown[] = []
    const workflow = define('order', { version: 1 })
      .step('reserve', {
        run: ({ idempotencyKey }) => {
          keys.push(idempotencyKey)
          reservations += 1
          return { id: reservations }
        },
        compensate: ({ output, idempotencyKey }) => {
          undone.push([output, idempotencyKey])
        },
      })
      .step('price', { dependsOn: ['reserve'], run: ({ deps }) => deps.reserve.id * 10 })
      .step('charge', {
        dependsOn: ['reserve', 'price'],
        retry: never,
        run: ({ deps }) => {
          if (broken) throw new Error('the bank is down')
          return [deps.reserve.id, deps.price]
        },
      })
    const one = await worker({ workflows: [workflow], concurrency: 1 })
    // Another process, whose cached outputs are stale.
    await worker({ workflows: [workflow], concurrency: 1 })
    const run = await one.run(workflow, undefined)
    const failure = await clock.runUntil(run.result().catch((error: unknown) => error))
    expect(RunFailedError.is(failure) && failure.status).toBe('compensated')

    broken = false
    await run.retry({ by: 'ann', reason: 'the bank is back' })

    expect(await clock.runUntil(run.result())).toEqual({ reserve: { id: 2 }, price: 20, charge: [2, 20] })
    expect(keys).toEqual([`${run.id}:reserve`, `${run.id}:reserve:2`])
    expect(undone).toEqual([[{ id: 1 }, `${run.id}:reserve:undo`]])
  })

  it('a process with stale cached outputs never uses them', async () => {
    const { clock, worker } = engines()
    let broken = true
    let made = 0
    const workflow = define('remembered', { version: 1 })
      .step('make', {
        run: () => {
          made += 1
          return made
        },
        compensate: () => {},
      })
      .step('use', {
        dependsOn: ['make'],
        retry: never,
        run: ({ deps }) => {
          // It leaves before the run is undone, so that it never learns how the run ended.
          if (broken) void first.stop()
          if (broken) throw new Error('no')
          return deps.make
        },
      })
    const first = await worker({ workflows: [workflow] })
    const run = await first.run(workflow, undefined)
    await clock.advance('1s')
    const second = await worker({ workflows: [workflow] })
    await clock.runUntil(
      second.runs
        .handle(run.id)
        .result()
        .catch(() => {}),
    )
    await second.stop()

    broken = false
    await second.runs.handle(run.id).retry()
    await first.start()

    expect(await clock.runUntil(run.result())).toEqual({ make: 2, use: 2 })
  })

  it('undoes it again if it fails again, with the newest outputs', async () => {
    const { clock, worker } = engines()
    let made = 0
    const undone: unknown[] = []
    const workflow = define('again', { version: 1 })
      .step('make', {
        run: () => {
          made += 1
          return made
        },
        compensate: ({ output, idempotencyKey }) => {
          undone.push([output, idempotencyKey.split(':').slice(1).join(':')])
        },
      })
      .step('no', { dependsOn: ['make'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    for (let round = 0; round < 3; round += 1) {
      if (round > 0) await run.retry()
      await clock.runUntil(run.result().catch(() => {}))
    }

    expect(undone).toEqual([
      [1, 'make:undo'],
      [2, 'make:2:undo'],
      [3, 'make:3:undo'],
    ])
    expect((await run.history()).map(({ action }) => action)).toEqual(['retry', 'retry'])
  })

  it('a failed step keeps its idempotency key if none of its dependencies was undone', async () => {
    const { clock, worker } = engines()
    let broken = true
    const keys: string[] = []
    const workflow = define('key', { version: 1 })
      .step('a', { run: () => 1 })
      .step('pay', {
        dependsOn: ['a'],
        retry: never,
        run: ({ idempotencyKey, attempt }) => {
          keys.push(`${idempotencyKey} ${attempt}`)
          if (broken) throw new Error('no')
          return 'paid'
        },
      })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result().catch(() => {}))

    broken = false
    await run.retryStep('pay')

    expect(await clock.runUntil(run.result())).toEqual({ a: 1, pay: 'paid' })
    expect(keys).toEqual([`${run.id}:pay 1`, `${run.id}:pay 2`])
  })

  it('workers that saw the run stop take its steps again, whoever retries it', async () => {
    const { clock, worker, engine, sleep } = engines()
    let broken = true
    const workflow = define('seen', { version: 1 })
      .step('slow', { run: () => sleep(2_000).then(() => 'slow') })
      .step('no', {
        retry: never,
        run: () => {
          if (broken) throw new PermanentError('no')
          return 'yes'
        },
      })
    // Both workers have a step in flight when the run stops, and remember that.
    await worker({ workflows: [workflow], concurrency: 1 })
    await worker({ workflows: [workflow], concurrency: 1 })
    const operator = engine()
    const run = await operator.run(workflow, undefined)
    await clock.runUntil(run.result().catch(() => {}))

    broken = false
    await run.retry()

    expect(await clock.runUntil(run.result(), { limit: '1m' })).toEqual({ slow: 'slow', no: 'yes' })
  })

  it('says why it is refused', async () => {
    const { clock, worker } = engines()
    const held = gate()
    const workflow = define('refused', { version: 1 }).step('a', { run: () => held.passed })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    await expect(run.retry()).rejects.toMatchObject({
      code: 'action_refused',
      runId: run.id,
      message: expect.stringMatching(/^Run \S+ cannot be retried: it is running\. Nothing in it has failed/),
    })
    held.open()
    await clock.runUntil(run.result())
    await expect(run.retry()).rejects.toMatchObject({ message: expect.stringMatching(/it has completed/) })
  })
})
