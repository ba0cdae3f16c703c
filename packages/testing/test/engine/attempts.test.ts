import { define, type RunHandle, type StepContext } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const never = { attempts: 1 } as const
const thrice = { attempts: 3, initial: '1s', jitter: false } as const

/** The calls of handlers, as `key attempt`, without the run's id. */
class Calls {
  readonly told: string[] = []

  note({ idempotencyKey, attempt }: Pick<StepContext, 'idempotencyKey' | 'attempt'>): void {
    this.told.push(`${idempotencyKey.split(':').slice(1).join(':')} ${attempt}`)
  }
}

function settled(run: RunHandle<unknown>): Promise<unknown> {
  return run.result().catch((error: unknown) => error)
}

describe('idempotency keys', () => {
  it('fail, retry, fail, migrate, retry: a step of unknown outcome keeps its key', async () => {
    const { clock, worker } = engines()
    const calls = new Calls()
    const run = (context: StepContext): string => {
      calls.note(context)
      throw new Error('no answer')
    }
    // In version 2, the step has the number of a step whose effect was undone and made again. Their keys must not mix.
    const one = define('kept', { version: 1 })
      .step('a', { run: () => 'A', compensate: () => {} })
      .step('b', { retry: never, run })
    const two = define('kept', { version: 2 })
      .step('b', { retry: never, run })
      .step('a', { run: () => 'A', compensate: () => {} })
    const engine = await worker({ workflows: [one, two] })

    const handle = await engine.run(one)
    await clock.runUntil(settled(handle))
    await handle.retry()
    await clock.runUntil(settled(handle))
    await engine.migrateRun(handle, two)
    await handle.retry()
    await clock.runUntil(settled(handle))

    expect(calls.told).toEqual(['b 1', 'b 2', 'b 3'])
  })

  it('of an undo grow with the step’s round, and do not jump when the run moves', async () => {
    const { clock, worker } = engines()
    const calls = new Calls()
    const undo = { compensate: (context: StepContext) => calls.note(context) }
    const no = () => Promise.reject(new Error('no'))
    const one = define('undone', { version: 1 })
      .step('other', { run: () => 1 })
      .step('make', { run: () => 'made', ...undo })
      .step('no', { dependsOn: ['make'], retry: never, run: no })
    const two = define('undone', { version: 2 })
      .step('make', { run: () => 'made', ...undo })
      .step('other', { run: () => 1 })
      .step('no', { dependsOn: ['make'], retry: never, run: no })
    const engine = await worker({ workflows: [one, two] })

    const handle = await engine.run(one)
    await clock.runUntil(settled(handle))
    await handle.retry()
    await clock.runUntil(settled(handle))
    await engine.migrateRun(handle, two)
    await handle.retry()
    await clock.runUntil(settled(handle))

    expect(calls.told).toEqual(['make:undo 1', 'make:2:undo 1', 'make:3:undo 1'])
    // The history says what began another round, since the step's row begins anew.
    const [retried] = await handle.history()
    expect(retried!.change).toMatchObject({
      steps: expect.arrayContaining([{ name: 'make', from: 'compensated', to: 'ready', round: 2 }]),
    })
  })
})

describe('an attempt’s number as users see it', () => {
  it('is 1, 2, 3 in the handler, in events, errors, snapshots and explanations, through undo, redo and migration', async () => {
    const { clock, worker } = engines()
    const calls = new Calls()
    const events: string[] = []
    const undos = new Calls()
    let broken = true
    const pay = {
      retry: thrice,
      run: (context: StepContext): string => {
        calls.note(context)
        if (broken) throw new Error('no')
        return 'paid'
      },
    }
    const make = {
      run: () => 'made',
      compensate: {
        retry: thrice,
        run: (context: StepContext) => {
          undos.note(context)
          if (context.attempt < 2) throw new Error('busy')
        },
      },
    }
    const one = define('counted', { version: 1 })
      .step('make', make)
      .step('pay', { dependsOn: ['make'], ...pay })
    const two = define('counted', { version: 2 })
      .step('first', { run: () => 1 })
      .step('make', make)
      .step('pay', { dependsOn: ['make'], ...pay })
    const engine = await worker({ workflows: [one, two] })
    for (const name of ['step.started', 'step.retrying', 'step.failed', 'step.compensated'] as const) {
      engine.on(name, ({ step, attempt, direction }) => {
        events.push(`${name.slice(5)} ${step} ${direction} ${attempt}`)
      })
    }

    const handle = await engine.run(one)
    const error = await clock.runUntil(settled(handle))
    const { steps } = await handle.status()
    await engine.migrateRun(handle, two)
    broken = false
    await handle.retry()
    await clock.runUntil(handle.result())

    // "pay" builds on a step that was undone, so its second round is another effect.
    expect(calls.told).toEqual(['pay 1', 'pay 2', 'pay 3', 'pay:2 1'])
    expect(undos.told).toEqual(['make:undo 1', 'make:undo 2'])
    expect(error).toMatchObject({ attempt: 3, message: expect.stringContaining('gave up after 3 attempts') })
    expect(steps).toMatchObject([
      { name: 'make', round: 1, attempts: 1, failures: 0, undo: { attempts: 2, failures: 1 } },
      { name: 'pay', round: 1, attempts: 3, failures: 2, undo: undefined },
    ])
    expect((await handle.status()).steps).toMatchObject([
      { name: 'first', round: 1, attempts: 1 },
      { name: 'make', round: 2, attempts: 1, undo: undefined },
      { name: 'pay', round: 2, attempts: 1, failures: 0 },
    ])
    expect(events).toEqual([
      'started make forward 1',
      'started pay forward 1',
      'retrying pay forward 1',
      'started pay forward 2',
      'retrying pay forward 2',
      'started pay forward 3',
      'failed pay forward 3',
      'started make undo 1',
      'retrying make undo 1',
      'started make undo 2',
      'compensated make undo 2',
      'started first forward 1',
      'started make forward 1',
      'started pay forward 1',
    ])
  })

  it('is above 1 in a handler that may have run before with the same key, after a loss and after a release', async () => {
    const { clock, worker, sleep } = engines()
    const calls = new Calls()
    const workflow = define('interrupted', { version: 1 }).step('slow', {
      run: async (context) => {
        calls.note(context)
        if (context.attempt === 1) await sleep(60_000)
        return 'done'
      },
    })
    const first = await worker({ workflows: [workflow] })
    const handle = await first.run(workflow)
    await clock.advance('1s')
    await clock.runUntil(first.stop({ timeout: '1s' }), { limit: '1m' })

    const second = await worker({ workflows: [workflow] })
    await clock.runUntil(second.runs.handle(handle.id).result())

    expect(calls.told).toEqual(['slow 1', 'slow 2'])
    expect(await handle.status()).toMatchObject({ steps: [{ attempts: 2, failures: 0, losses: 0 }] })
  })
})

describe('the snapshot of a run that was undone', () => {
  it('has both directions: the forward facts stay, and relays add nothing', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('both', { version: 1 })
      .step('a', { run: () => sleep(300), compensate: () => sleep(7) })
      .step('passedBy', { dependsOn: ['a'], run: () => sleep(400) })
      .step('c', { dependsOn: ['passedBy'], run: () => sleep(500), compensate: () => sleep(8) })
      .step('no', { dependsOn: ['c'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const handle = await engine.run(workflow)
    await clock.runUntil(settled(handle))

    const { steps, finishedAt } = await handle.status()

    const lasted = (time: { startedAt: Date | undefined; finishedAt: Date | undefined } | undefined) =>
      time && time.finishedAt!.getTime() - time.startedAt!.getTime()
    const told = steps.map((step) => [step.status, lasted(step), lasted(step.undo), step.attempts])
    expect(told).toEqual([
      ['compensated', 300, 7, 1],
      ['completed', 400, undefined, 1],
      ['compensated', 500, 8, 1],
      ['failed', 0, undefined, 1],
    ])
    expect(steps[0]!.undo!.finishedAt).toEqual(finishedAt)
    expect(steps[0]!.undo!.startedAt!.getTime()).toBeGreaterThanOrEqual(steps[2]!.undo!.finishedAt!.getTime())
  })
})

describe('an engine that keeps attempts', () => {
  it('shows each attempt, in both directions, with how it ended', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('kept', { version: 1 })
      .step('make', {
        run: () => 'made',
        compensate: {
          retry: thrice,
          run: async ({ attempt }) => {
            await sleep(5)
            if (attempt < 2) throw new Error('busy')
          },
        },
      })
      .step('pay', {
        dependsOn: ['make'],
        retry: { attempts: 2, initial: '1s', jitter: false },
        run: () => Promise.reject(new Error('no')),
      })
    const engine = await worker({ workflows: [workflow], attempts: 'keep' })
    const handle = await engine.run(workflow)
    await clock.runUntil(settled(handle))

    const attempts = await engine.runs.attempts(handle)

    const told = attempts.map(({ step, direction, attempt, ended, error }) =>
      [step, direction, attempt, ended, error?.message].filter((part) => part !== undefined).join(' '),
    )
    expect(told).toEqual([
      'make forward 1 completed',
      'pay forward 1 retrying no',
      'pay forward 2 failed no',
      'make undo 1 retrying busy',
      'make undo 2 compensated',
    ])
    expect(attempts[2]!.startedAt!.getTime() - attempts[1]!.finishedAt.getTime()).toBeGreaterThanOrEqual(
      1_000,
    )
    expect(await engine.runs.attempts(handle.id, { limit: 1 })).toEqual(attempts.slice(-1))
  })

  it('has to be told to: by default nothing is kept', async () => {
    const { clock, worker, engine } = engines()
    expect(() => engine({ attempts: true as never })).toThrow(/attempts must be 'keep'; got true/)
    const workflow = define('unkept', { version: 1 }).step('a', { run: () => 1 })
    const made = await worker({ workflows: [workflow] })
    const handle = await made.run(workflow)
    await clock.runUntil(handle.result())

    expect(await made.runs.attempts(handle)).toEqual([])
    await expect(made.runs.attempts('01920000-0000-7000-8000-000000000001')).rejects.toMatchObject({
      code: 'unknown_run',
    })
    await expect(made.runs.attempts(handle, { limit: 0 })).rejects.toMatchObject({ code: 'invalid_option' })
  })
})
