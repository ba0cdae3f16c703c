import { define, PermanentError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, StoppableClock, statuses } from './bench-of-engines.ts'

const never = { attempts: 1 } as const

/** a → b → c, with d beside them; e, after c and d, fails. Records the undos. */
function failing(
  undone: string[],
  fail: () => unknown = () => {
    throw new PermanentError('no')
  },
) {
  const undo = (name: string) => () => {
    undone.push(name)
  }
  return define('saga', { version: 1 })
    .step('a', { run: () => 'A', compensate: undo('a') })
    .step('b', { dependsOn: ['a'], run: () => 'B', compensate: undo('b') })
    .step('c', { dependsOn: ['b'], run: () => 'C', compensate: undo('c') })
    .step('d', { run: () => 'D', compensate: undo('d') })
    .step('e', { dependsOn: ['c', 'd'], run: fail, compensate: undo('e') })
}

describe('undoing a failed run', () => {
  it('undoes every completed step once, after all steps that depended on it', async () => {
    const { clock, worker } = engines()
    const undone: string[] = []
    const workflow = failing(undone)
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, undefined)
    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(undone.filter((step) => step !== 'd')).toEqual(['c', 'b', 'a'])
    expect([...undone].sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(RunFailedError.is(error) && error).toMatchObject({
      status: 'compensated',
      step: 'e',
      undo: expect.arrayContaining([{ step: 'a', result: 'compensated', error: undefined }]),
      message: expect.stringMatching(/Undone: 4 of 4/),
    })
    expect(statuses(await run.status())).toMatchObject({ a: 'compensated', e: 'failed' })
  })

  it('gives a compensation the output, the cause and its own key', async () => {
    const { clock, worker } = engines()
    const seen: unknown[] = []
    const workflow = define('context', { version: 1 })
      .step('pay', {
        run: () => ({ charge: 7 }),
        compensate: ({ output, cause, idempotencyKey, undoOf, error, input }) => {
          seen.push({ output, cause: cause.type, idempotencyKey, undoOf, error, input })
        },
      })
      .step('no', { dependsOn: ['pay'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, { order: 1 })
    await clock.runUntil(run.result().catch(() => {}))

    expect(seen).toEqual([
      {
        output: { charge: 7 },
        cause: 'step_failed',
        idempotencyKey: `${run.id}:pay:undo`,
        undoOf: 'completed',
        error: undefined,
        input: { order: 1 },
      },
    ])
  })

  it('ends as failed if nothing had to be undone', async () => {
    const { clock, worker } = engines()
    const workflow = define('plain', { version: 1 })
      .step('a', { run: () => 1 })
      .step('no', { dependsOn: ['a'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).status).toBe('failed')
    expect(statuses(await run.status())).toEqual({ a: 'completed', no: 'failed' })
  })

  it('waits for steps in flight, fires their signals, and undoes their late successes', async () => {
    const { clock, worker, sleep } = engines()
    const happened: string[] = []
    const workflow = define('siblings', { version: 1 })
      .step('slow', {
        run: async ({ signal }) => {
          signal.addEventListener('abort', () => happened.push(`signalled: ${signal.reason.code}`))
          await sleep(5_000)
          happened.push('slow took effect')
          return 'late'
        },
        compensate: ({ output }) => {
          happened.push(`undone: ${output}`)
        },
      })
      .step('no', { retry: never, run: () => Promise.reject(new Error('no')) })
      .step('after', { dependsOn: ['slow'], run: () => happened.push('never') })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    await clock.runUntil(run.result().catch(() => {}))

    expect(happened).toEqual(['signalled: run_stopping', 'slow took effect', 'undone: late'])
    expect(statuses(await run.status())).toEqual({ slow: 'compensated', no: 'failed', after: 'cancelled' })
  })

  it('retries a compensation that throws, and parks the run when it gives up; independent branches continue', async () => {
    const { clock, worker } = engines()
    const undone: string[] = []
    let tries = 0
    const workflow = define('parked', { version: 1 })
      .step('before', { run: () => 1, compensate: () => void undone.push('before') })
      .step('stuck', {
        dependsOn: ['before'],
        run: () => 1,
        compensate: {
          retry: { attempts: 3, initial: 10 },
          run: () => {
            tries += 1
            throw new Error(`it's "broken"; DROP TABLE`)
          },
        },
      })
      .step('aside', { run: () => 1, compensate: () => void undone.push('aside') })
      .step('no', { dependsOn: ['stuck', 'aside'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(tries).toBe(3)
    expect(undone).toEqual(['aside'])
    expect((await run.status()).status).toBe('compensation_failed')
    expect(statuses(await run.status())).toMatchObject({
      before: 'compensating',
      stuck: 'compensation_failed',
      aside: 'compensated',
    })
    expect(RunFailedError.is(error) && error.message).toMatch(
      /parked: that of "stuck" failed; 1 undone, 1 waiting/,
    )
  })

  it("undoes a step of unknown outcome only under compensateOn: 'started'", async () => {
    const { clock, worker } = engines()
    const undone: unknown[] = []
    const compensate = ({
      step,
      undoOf,
      error,
    }: {
      step: string
      undoOf: string
      error: { message: string } | undefined
    }) => {
      undone.push([step, undoOf, error?.message])
    }
    const fail = () => Promise.reject(new Error('who knows'))
    const workflow = define('unknown', { version: 1 })
      .step('completedOnly', { retry: never, run: fail, compensate })
      .step('started', { retry: never, run: fail, compensate, compensateOn: 'started' })
      .step('neverStarted', { dependsOn: ['started'], run: () => 1, compensate, compensateOn: 'started' })
    const engine = await worker({ workflows: [workflow] })

    await clock.runUntil((await engine.run(workflow, undefined)).result().catch(() => {}))

    expect(undone).toEqual([['started', 'failed', 'who knows']])
  })

  it('keeps the order across steps that have nothing to undo', async () => {
    const { clock, worker, sleep } = engines()
    const undone: string[] = []
    const undo = (name: string) => async () => {
      undone.push(`${name} begins`)
      await sleep(100)
      undone.push(`${name} ends`)
    }
    const workflow = define('relay', { version: 1 })
      .step('first', { run: () => 1, compensate: undo('first') })
      .step('plain', { dependsOn: ['first'], run: () => 1 })
      .step('last', { dependsOn: ['plain'], run: () => 1, compensate: undo('last') })
      .step('no', { dependsOn: ['last'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    await clock.runUntil(run.result().catch(() => {}))

    expect(undone).toEqual(['last begins', 'last ends', 'first begins', 'first ends'])
    expect(statuses(await run.status())).toEqual({
      first: 'compensated',
      plain: 'completed',
      last: 'compensated',
      no: 'failed',
    })
  })

  it('continues after a crash in the middle of a compensation, and two workers undo nothing twice', async () => {
    const { clock, adapter, engine, worker } = engines()
    const undone: string[] = []
    const crash = gate()
    const stopped = new StoppableClock(clock)
    const workflow = failing(undone)
    // The first worker dies inside its first compensation: the handler never returns, and the worker's timers never fire again.
    const dying = define('saga', { version: 1 })
      .step('a', { run: () => 'A', compensate: () => crash.passed })
      .step('b', { dependsOn: ['a'], run: () => 'B', compensate: () => crash.passed })
      .step('c', { dependsOn: ['b'], run: () => 'C', compensate: () => crash.passed })
      .step('d', { run: () => 'D', compensate: () => crash.passed })
      .step('e', {
        dependsOn: ['c', 'd'],
        compensate: () => {},
        run: () => {
          throw new PermanentError('no')
        },
      })
    const first = await worker({ workflows: [dying], clock: stopped, lease: '10s' })
    const run = await first.run(workflow, undefined)
    await clock.advance('1s')
    stopped.stop()

    await worker({ workflows: [workflow], lease: '10s' })
    await worker({ workflows: [workflow], lease: '10s' })
    const watcher = engine({ adapter })
    await clock.runUntil(
      watcher.runs
        .handle(run.id)
        .result()
        .catch(() => {}),
    )

    expect([...undone].sort()).toEqual(['a', 'b', 'c', 'd'])
    expect(undone.filter((step) => step !== 'd')).toEqual(['c', 'b', 'a'])
  })
})

describe('cancelling', () => {
  it('drains, undoes and ends as cancelled, with the reason', async () => {
    const { clock, worker, sleep } = engines()
    const undone: string[] = []
    const workflow = define('cancel', { version: 1 })
      .step('a', { run: () => 1, compensate: () => void undone.push('a') })
      .step('b', { dependsOn: ['a'], run: () => sleep(10_000), compensate: () => void undone.push('b') })
      .step('c', { dependsOn: ['b'], run: () => 1 })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('1s')

    expect(await run.cancel({ reason: 'changed their mind' })).toBe(true)
    expect(await run.cancel()).toBe(false)
    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(undone).toEqual(['b', 'a'])
    expect(RunFailedError.is(error) && error.message).toMatch(
      /was cancelled: changed their mind\. Undone: 2 of 2/,
    )
    expect((await run.status()).status).toBe('cancelled')
  })
})
