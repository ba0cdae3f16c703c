import { define, PermanentError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

const never = { attempts: 1 } as const

describe('pausing a run', () => {
  it('lets handlers in flight end, begins nothing more, and continues when it is resumed', async () => {
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

  it('a caller that awaits the run also waits through the pause', async () => {
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

describe('retrying and skipping steps', () => {
  it('a step that waits for its next attempt is tried at once', async () => {
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

  it('dependents receive the stand-in of a skipped step', async () => {
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

  it('a running step cannot be skipped, and the error says what to do', async () => {
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
  it('continues once one compensation is retried and another is skipped', async () => {
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
  it('can be cancelled without an undo, and the history records it once', async () => {
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

  it('cancelling again during the undo changes nothing', async () => {
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
        /cannot be cancelled without its undo: it is being undone\. A cancellation stops no undo/,
      ),
    })

    await clock.runUntil(run.result().catch(() => {}))
    expect(statuses(await run.status())).toMatchObject({ a: 'compensated' })
    expect((await run.status()).cause).toEqual({ type: 'cancelled', reason: 'first' })
    expect(await run.history()).toHaveLength(1)
  })
})
