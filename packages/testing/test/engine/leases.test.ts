import { randomUUID } from 'node:crypto'
import { define, StoreUnavailableError } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { describe, expect, it, vi } from 'vitest'
import { changed, engines, gate, StoppableClock, statuses } from './bench-of-engines.ts'

describe('workers that die or stall', () => {
  it('a zombie’s late result changes nothing, the zombie learns that, and its worker continues under a new id', async () => {
    const { clock, adapter, worker } = engines()
    const stall = gate()
    const told: unknown[] = []
    const outputs: string[] = []
    const stopped = new StoppableClock(clock)
    const zombieFlow = define('zombie', { version: 1 }).step('work', {
      run: async () => {
        await stall.passed
        return 'from the zombie'
      },
    })
    const liveFlow = define('zombie', { version: 1 }).step('work', {
      run: () => {
        outputs.push('live')
        return 'from the living'
      },
    })
    const zombie = await worker({ workflows: [zombieFlow], clock: stopped, lease: '3s' })
    zombie.on('step.discarded', ({ reason }) => told.push(reason))
    const run = await zombie.run(zombieFlow, undefined)
    await clock.advance('100ms')
    stopped.stop()

    const living = await worker({ workflows: [liveFlow], lease: '3s' })
    await clock.runUntil(living.runs.handle(run.id).result())
    const before = JSON.stringify(adapter.dump())
    stall.open()
    await clock.advance('1ms')

    expect(JSON.stringify(adapter.dump())).toBe(before)
    expect(await living.runs.handle(run.id).result()).toEqual({ work: 'from the living' })
    expect(told).toEqual(['lease_lost'])
  })

  it('a step that keeps killing its workers fails after lossesMax losses, and is not tried forever', async () => {
    const { clock, adapter, worker, engine } = engines()
    let calls = 0
    const workflow = define('poison', { version: 1 }).step('poison', {
      lossesMax: 2,
      run: () => {
        calls += 1
        return new Promise(() => {})
      },
    })
    const run = await engine().run(workflow, undefined)
    for (let n = 0; n < 2; n += 1) {
      const stopped = new StoppableClock(clock)
      await worker({ workflows: [workflow], clock: stopped, lease: '1s' })
      await clock.advance('500ms')
      stopped.stop()
      // No other worker sweeps: the next one does.
      await clock.advance('5s')
    }

    await worker({ workflows: [workflow], lease: '1s' })
    await clock.runUntil(run.result().catch(() => {}))

    const { status, cause, steps } = await run.status()
    expect(calls).toBe(2)
    expect(status).toBe('failed')
    expect(steps[0]).toMatchObject({ losses: 2, failures: 0 })
    expect(cause).toMatchObject({
      error: { code: 'worker_lost', message: expect.stringMatching(/lost its worker 2 times/) },
    })
    expect(adapter.dump().runs).toHaveLength(1)
  })

  it('stops within bounds: handlers end, then are signalled, then their steps are released without a failure', async () => {
    const { clock, worker, engine } = engines()
    const signalled: unknown[] = []
    const workflow = define('stop', { version: 1 })
      .step('deaf', { run: () => new Promise(() => {}) })
      .step('polite', {
        run: ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              signalled.push(signal.reason.code)
              reject(signal.reason)
            })
          }),
      })
    const leaving = await worker({ workflows: [workflow] })
    const run = await leaving.run(workflow, undefined)
    await clock.advance('100ms')
    const startedAt = clock.now()

    await clock.runUntil(leaving.stop({ timeout: '2s' }))

    expect(clock.now() - startedAt).toBeLessThan(4_000)
    expect(signalled).toEqual(['worker_stopping'])
    const { steps } = await engine().runs.handle(run.id).status()
    expect(steps.map(({ status, failures, losses }) => ({ status, failures, losses }))).toEqual([
      { status: 'ready', failures: 0, losses: 0 },
      { status: 'ready', failures: 0, losses: 0 },
    ])
  })

  it('a step that a stopped worker released runs on the next worker', async () => {
    const { clock, worker, sleep } = engines()
    let calls = 0
    const workflow = define('handover', { version: 1 }).step('work', {
      run: async ({ signal }) => {
        calls += 1
        if (calls === 1) await new Promise((_, reject) => signal.addEventListener('abort', reject))
        await sleep(10)
        return calls
      },
    })
    const leaving = await worker({ workflows: [workflow] })
    const run = await leaving.run(workflow, undefined)
    await clock.advance('100ms')
    await clock.runUntil(leaving.stop({ timeout: 0 }))

    const next = await worker({ workflows: [workflow] })
    const result = await clock.runUntil(next.runs.handle(run.id).result())

    expect(result).toEqual({ work: 2 })
    expect(statuses(await run.status())).toEqual({ work: 'completed' })
  })

  it('stops within bounds while the store is away, and the end of its lease requeues what it could not record', async () => {
    const { adapter, clock, worker, sleep } = engines()
    let calls = 0
    const workflow = define('away', { version: 1 }).step('work', {
      run: async () => {
        calls += 1
        await sleep(2_000)
        return calls
      },
    })
    const leaving = await worker({ workflows: [workflow], lease: '5s' })
    const run = await leaving.run(workflow)
    await clock.advance('100ms')
    const away = () => Promise.reject(new StoreUnavailableError('away'))
    const verbs = ['settle', 'claim', 'renew', 'sweep', 'drain', 'stopping', 'deregisterWorker'] as const
    for (const verb of verbs) vi.spyOn(adapter, verb).mockImplementation(away)
    const startedAt = clock.now()

    await clock.runUntil(leaving.stop({ timeout: '1s' }))
    vi.restoreAllMocks()
    const next = await worker({ workflows: [workflow], lease: '5s' })

    expect(clock.now() - startedAt).toBeLessThan(30_000)
    expect(await clock.runUntil(next.runs.handle(run.id).result())).toEqual({ work: 2 })
  })

  it('an outcome that the store refuses stays with its worker, delays no run, and is recorded once the store accepts it', async () => {
    const { adapter, clock, worker } = engines()
    const lost: number[] = []
    const errors: string[] = []
    const calls: string[] = []
    const run = () => {
      calls.push('bad')
      return 'bad'
    }
    const refused = define('refused', { version: 1 }).step('bad', { lossesMax: 1, run })
    const other = define('other', { version: 1 }).step('good', { run: () => 'good' })
    const settle = adapter.settle.bind(adapter)
    const refusing = vi.spyOn(adapter, 'settle').mockImplementation((request) => {
      const bad = request.outcomes.some(
        (outcome) => outcome.type === 'completed' && outcome.output === '"bad"',
      )
      return bad ? Promise.reject(new Error('broken store')) : settle(request)
    })
    const engine = await worker({ workflows: [refused, other], lease: '2s' })
    engine.on('lease.lost', ({ steps }) => lost.push(steps))
    engine.on('error', ({ during }) => errors.push(during))

    const [bad, good] = await Promise.all([engine.run(refused), engine.run(other)])
    expect(await clock.runUntil(good.result())).toEqual({ good: 'good' })
    await clock.advance(300_000)

    expect((await bad.status()).status).toBe('running')
    expect(lost).toEqual([])
    expect(errors).toEqual(['settling'])
    expect((await engine.doctor()).findings).toEqual([
      expect.objectContaining({ type: 'refused_by_store', runId: bad.id, step: 'bad' }),
    ])
    refusing.mockImplementation(settle)
    expect(await clock.runUntil(bad.result())).toEqual({ bad: 'bad' })
    expect(calls).toEqual(['bad'])
    expect((await engine.doctor()).findings).toEqual([])
  })

  it('a worker frozen for longer than its lease renews the lease before it begins another handler', async () => {
    const { clock, adapter, worker } = engines()
    const happened: string[] = []
    const own = {
      stoodStillMs: 0,
      now: () => clock.now() + own.stoodStillMs,
      after: (delayMs: number, fire: () => void) => clock.after(delayMs, fire),
    }
    const renewing = changed(adapter, {
      async renew(renewal) {
        happened.push('renewed')
        return adapter.renew(renewal)
      },
    })
    const workflow = define('frozen', { version: 1 })
      .step('first', {
        run: () => {
          happened.splice(0)
          own.stoodStillMs += 10_000
          happened.push('first')
        },
      })
      .step('second', { run: () => happened.push('second') })
    const engine = await worker({ adapter: renewing, clock: own, workflows: [workflow], lease: '3s' })

    await clock.runUntil((await engine.run(workflow)).result())

    expect(happened.slice(0, 3)).toEqual(['first', 'renewed', 'second'])
  })

  it('a worker that lost its lease while frozen begins no handler with it', async () => {
    const { clock, adapter, worker } = engines()
    const begun: { readonly step: string; readonly workerId: string }[] = []
    const own = {
      stoodStillMs: 0,
      now: () => clock.now() + own.stoodStillMs,
      after: (delayMs: number, fire: () => void) => clock.after(delayMs, fire),
    }
    let first: string | undefined
    const isDead = ({ workerId }: { readonly workerId: string }) => {
      first ??= workerId
      return own.stoodStillMs > 0 && workerId === first
    }
    const lost = changed(adapter, {
      // Another worker has declared it dead meanwhile.
      renew: async (renewal) => (isDead(renewal) ? 'lost' : adapter.renew(renewal)),
      claim: async (request) => (isDead(request) ? 'lost' : adapter.claim(request)),
    })
    const workflow = define('gone', { version: 1 })
      .step('first', {
        run: () => {
          own.stoodStillMs += 10_000
        },
      })
      .step('second', { run: () => 'done' })
    const engine = await worker({ adapter: lost, clock: own, workflows: [workflow], lease: '3s' })
    engine.on('step.started', ({ step, workerId }) => begun.push({ step, workerId }))
    await clock.runUntil((await engine.run(workflow)).result(), { limit: '10s' })

    expect(begun).toEqual([
      { step: 'first', workerId: first },
      { step: 'second', workerId: expect.not.stringMatching(first!) },
    ])
  })

  it('a step that was leased without the worker’s knowledge is found within a lease, though no call had failed', async () => {
    const { clock, adapter, worker, engine } = engines()
    const workflow = define('orphan', { version: 1 }).step('work', { run: () => 'done' })
    const starter = engine()
    const owner = await worker({ workflows: [workflow], concurrency: 1, lease: '6s' })
    const [registered] = await owner.workers.list()
    const [definition] = await adapter.saveDefinitions([workflow.record])
    const runId = await startWithoutAnswer(adapter, {
      workerId: registered!.id,
      definitionId: definition!.id,
    })

    await clock.runUntil(starter.runs.handle(runId).result(), { limit: '7s' })

    expect((await starter.runs.get(runId))?.steps[0]).toMatchObject({ status: 'completed', losses: 0 })
  })
})

/** As if the client had given the call up, but it took effect anyway. */
async function startWithoutAnswer(
  adapter: Adapter,
  lease: { readonly workerId: string; readonly definitionId: number },
): Promise<string> {
  const { workerId, definitionId } = lease
  const run = { runId: randomUUID(), definitionId, workflow: 'orphan', key: null, input: null }
  await adapter.startRuns([run], { lease: { workerId, handBackMax: 1 } })
  return run.runId
}
