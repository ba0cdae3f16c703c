import { define, PermanentError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, statuses } from './bench-of-engines.ts'

const never = { attempts: 1 } as const

describe('pausing a run', () => {
  it('lets handlers in flight end, begins nothing more, and goes on when it is resumed', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('pausable', { version: 1 })
      .step('a', { run: () => sleep(1_000).then(() => 'A') })
      .step('b', { dependsOn: ['a'], run: ({ deps }) => `${deps.a}B` })
    const engine = await worker({ workflows: [workflow] })
    const changes: string[] = []
    engine.on('run.paused', () => changes.push('paused'))
    engine.on('run.resumed', () => changes.push('resumed'))
    engine.on('operator.acted', ({ action, by }) => changes.push(`${action} by ${by}`))
    const run = await engine.run(workflow, undefined)
    await clock.advance('500ms')

    expect(await run.pause({ by: 'ann' })).toBe(true)
    await clock.advance('1h')
    expect(statuses(await run.status())).toEqual({ a: 'completed', b: 'pending' })
    expect((await run.status()).status).toBe('paused')
    expect(await run.resume({ by: 'bob' })).toBe(true)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'A', b: 'AB' })
    expect(changes).toEqual(['pause by ann', 'paused', 'resume by bob', 'resumed'])
  })

  it('whoever awaits the run waits through the pause', async () => {
    const { clock, worker, engine } = engines()
    const workflow = define('awaited', { version: 1 }).step('a', { run: () => 1 })
    const starter = engine()
    const run = await starter.run(workflow, undefined)
    await run.pause()
    await worker({ workflows: [workflow] })
    const result = run.result()
    await clock.advance('1m')

    await run.resume()

    expect(await clock.runUntil(result)).toEqual({ a: 1 })
  })
})

describe('retrying a run', () => {
  it('runs what was undone and what failed again, with fresh outputs and another idempotency key for what was undone', async () => {
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
    // Another process, which remembers outputs of before.
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

  it('a process that remembers outputs of before gives nobody stale ones', async () => {
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
          // It leaves before the run is undone, so that it never hears of its end.
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

  it('is undone again when it fails again, with the newest outputs', async () => {
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

  it('a failed step keeps its idempotency key when nothing it depends on was undone', async () => {
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
    // Both workers have a step in flight when the run stops, and remember it.
    await worker({ workflows: [workflow], concurrency: 1 })
    await worker({ workflows: [workflow], concurrency: 1 })
    const operator = engine()
    const run = await operator.run(workflow, undefined)
    await clock.runUntil(run.result().catch(() => {}))

    broken = false
    await run.retry()

    expect(await clock.runUntil(run.result(), { limit: '1m' })).toEqual({ slow: 'slow', no: 'yes' })
  })

  it('says why it cannot', async () => {
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

describe('retrying and skipping steps', () => {
  it('a step that waits for its next try is tried at once', async () => {
    const { clock, worker } = engines()
    let broken = true
    const workflow = define('impatient', { version: 1 }).step('a', {
      retry: { attempts: 2, initial: '1h', max: '1h', jitter: false },
      run: () => {
        if (broken) throw new Error('no')
        return 'A'
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('1s')
    broken = false
    const before = clock.now()

    await run.retryStep('a')

    expect(await clock.runUntil(run.result())).toEqual({ a: 'A' })
    expect(clock.now() - before).toBeLessThan(1_000)
  })

  it('the stand-in of a skipped step is what depends on it gets', async () => {
    const { clock, worker } = engines()
    const workflow = define('skipping', { version: 1 })
      .step('rate', {
        retry: { attempts: 5, initial: '1h' },
        run: (): { rate: number } => {
          throw new Error('no rates today')
        },
        compensate: () => {
          throw new Error('never called: the step was not run')
        },
      })
      .step('use', { dependsOn: ['rate'], run: ({ deps }) => deps.rate.rate * 2 })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('1s')

    await run.skipStep('rate', { output: { rate: 21 }, by: 'ann', reason: 'yesterday’s rate' })

    expect(await clock.runUntil(run.result())).toEqual({ rate: { rate: 21 }, use: 42 })
  })

  it('a running step is not skipped, and says what to do', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('busy', { version: 1 }).step('a', { run: () => sleep(1_000) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('500ms')

    await expect(run.skipStep('a')).rejects.toMatchObject({
      code: 'action_refused',
      step: 'a',
      message: expect.stringMatching(/it is running, and what it does cannot be taken back\. Skip it while/),
    })
  })
})

describe('a parked undo', () => {
  it('goes on once its compensation is retried, and once another is skipped', async () => {
    const { clock, worker } = engines()
    let broken = true
    const undone: string[] = []
    const workflow = define('parked', { version: 1 })
      .step('a', { run: () => 1, compensate: () => void undone.push('a') })
      .step('b', {
        dependsOn: ['a'],
        run: () => 1,
        compensate: () => {
          if (broken) throw new PermanentError('no refund today')
          undone.push('b')
        },
      })
      .step('c', {
        dependsOn: ['a'],
        run: () => 1,
        compensate: () => {
          throw new PermanentError('nobody knows')
        },
      })
      .step('no', { dependsOn: ['b', 'c'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    const parked = await clock.runUntil(run.result().catch((error: unknown) => error))
    expect(RunFailedError.is(parked) && parked.status).toBe('compensation_failed')

    broken = false
    await run.retryCompensation('b', { by: 'ann' })
    await clock.advance('1s')
    expect(undone).toEqual(['b'])
    await run.skipCompensation('c', { by: 'ann', reason: 'refunded by hand' })
    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))

    expect(undone).toEqual(['b', 'a'])
    expect(RunFailedError.is(error) && error.status).toBe('compensated')
    expect((await run.history()).map(({ action, step }) => `${action} ${step}`)).toEqual([
      'retry_compensation b',
      'skip_compensation c',
    ])
  })
})

describe('cancelling', () => {
  it('leaves everything as it is when asked to, and says so once', async () => {
    const { clock, worker, sleep } = engines()
    const undone: string[] = []
    const workflow = define('abandoned', { version: 1 })
      .step('a', { run: () => 1, compensate: () => void undone.push('a') })
      .step('b', { dependsOn: ['a'], run: () => sleep(5_000), compensate: () => void undone.push('b') })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('1s')

    expect(await run.cancel({ compensate: false, by: 'ann', reason: 'keep it' })).toBe(true)
    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))

    expect(RunFailedError.is(error) && error.status).toBe('cancelled')
    expect(undone).toEqual([])
    expect(statuses(await run.status())).toEqual({ a: 'completed', b: 'completed' })
    expect(await run.history()).toMatchObject([{ action: 'cancel', by: 'ann', reason: 'keep it' }])
  })

  it('once more while it is being undone changes nothing', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('twice', { version: 1 })
      .step('a', { run: () => 1, compensate: () => sleep(1_000) })
      .step('b', { dependsOn: ['a'], run: () => sleep(1_000) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('500ms')
    await run.cancel({ reason: 'first' })
    await clock.advance('1s')

    expect(await run.cancel({ reason: 'second' })).toBe(false)
    await expect(run.cancel({ reason: 'third', compensate: false })).rejects.toMatchObject({
      code: 'action_refused',
      message: expect.stringMatching(
        /cannot be cancelled without its undo: it is being undone\. cancel\(\) stops no undo/,
      ),
    })

    await clock.runUntil(run.result().catch(() => {}))
    expect(statuses(await run.status())).toMatchObject({ a: 'compensated' })
    expect((await run.status()).cause).toEqual({ type: 'cancelled', reason: 'first' })
    expect(await run.history()).toHaveLength(1)
  })
})

describe('bad input of an operator', () => {
  const workflow = define('strict', { version: 1 }).step('charge', { run: () => 1 })

  it.each([
    [
      'an option that is not one',
      (run: never) => call(run, 'pause', { who: 'ann' }),
      /pause\(\) has no option "who"/,
    ],
    [
      'a name that is no text',
      (run: never) => call(run, 'resume', { by: 7 }),
      /by must be a string of up to 200/,
    ],
    [
      'a reason without end',
      (run: never) => call(run, 'cancel', { reason: 'x'.repeat(2_001) }),
      /2001 characters/,
    ],
    [
      'half a compensation',
      (run: never) => call(run, 'cancel', { compensate: 'half' }),
      /compensate must be true or false/,
    ],
    [
      'a step that is not there',
      (run: never) => call(run, 'skipStep', 'chargd'),
      /has no step "chargd"\. Did you mean "charge"\?/,
    ],
    [
      'an output that is no JSON',
      (run: never) => call(run, 'skipStep', 'charge', { output: 1n }),
      /Stand-in output of step "charge"/,
    ],
    [
      'a history without a limit',
      (run: never) => call(run, 'history', { limit: 0 }),
      /limit must be a whole number from 1/,
    ],
    ['no options at all', (run: never) => call(run, 'pause', null), /the options must be an object/],
  ])('%s is refused, and nothing changes', async (_, act, message) => {
    const { engine } = engines()
    const run = await engine().run(workflow, undefined)

    await expect(act(run as never)).rejects.toThrow(message)

    expect(statuses(await run.status())).toEqual({ charge: 'ready' })
    expect(await run.history()).toEqual([])
  })

  it('a run that is not there is unknown to every action', async () => {
    const { engine } = engines()
    const made = engine()
    const run = made.runs.handle('01920000-0000-7000-8000-000000000000')

    const actions = [
      run.pause(),
      run.resume(),
      run.cancel(),
      run.retry(),
      run.retryStep('a'),
      run.skipStep('a'),
      run.retryCompensation('a'),
      run.skipCompensation('a'),
      run.history(),
      run.explain(),
      made.migrateRun(run, workflow),
    ]

    for (const action of actions) await expect(action).rejects.toMatchObject({ code: 'unknown_run' })
  })

  it('nothing is done by an engine that was closed', async () => {
    const { engine } = engines()
    const made = engine()
    const run = await made.run(workflow, undefined)
    await made.close()

    await expect(run.pause()).rejects.toMatchObject({ code: 'engine_closed' })
    await expect(run.cancel()).rejects.toMatchObject({ code: 'engine_closed' })
  })
})

async function call(
  run: Record<string, (...args: unknown[]) => Promise<unknown>>,
  method: string,
  ...args: unknown[]
) {
  return run[method]!(...args)
}
