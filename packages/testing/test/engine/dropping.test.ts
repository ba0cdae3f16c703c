import { define, type Engine, type Logger } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants } from '../../src/index.ts'
import { engines, StoppableClock, statuses } from './bench-of-engines.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const dev = { dev: true, logger: silent }

/** Its undo of `book` fails as often as its input says; `fly` waits for a signal. */
function trip(undone: string[] = []) {
  return define('trip', { version: 1 })
    .step('book', {
      run: () => 'booked',
      compensate: {
        run: ({ input }) => {
          undone.push('book')
          if (input === 'unlucky') throw new Error('no refund')
        },
        retry: false,
      },
    })
    .step('insure', { dependsOn: ['book'], run: () => 'insured' })
    .waitForSignal('paid', { dependsOn: ['insure'] })
    .step('fly', { dependsOn: ['paid'], run: () => 'flown', compensate: () => void undone.push('fly') })
}

const changed = define('trip', { version: 1 }).step('walk', { run: () => 'walked' })

/** Runs of `trip`, and then its workers are gone. */
async function forgotten(bench: ReturnType<typeof engines>) {
  const undone: string[] = []
  const workflow = trip(undone)
  const first = await bench.worker({ workflows: [workflow], ...dev })
  const start = (input: string, key?: string) => first.run(workflow, input, { key })
  return { workflow, first, undone, start }
}

async function ended(engine: Engine, runId: string) {
  const run = await engine.runs.get(runId)
  return { status: run?.status, steps: statuses(run) }
}

describe('dropping the runs of forgotten versions', () => {
  it('ends those that go forward, wait or are paused as cancelled, and undoes nothing', async () => {
    const bench = engines()
    const { clock, adapter, worker } = bench
    const { first, undone, start } = await forgotten(bench)
    const waiting = await start('lucky')
    const paused = await start('lucky')
    await clock.advance('1s')
    await paused.pause()
    await clock.runUntil(first.stop())
    const scheduled = await bench.engine(dev).run(trip(), 'lucky', { delay: '1h' })
    const second = await worker({ workflows: [changed], ...dev })

    const result = await clock.runUntil(second.runs.dropForgotten({ by: 'ann' }))

    expect(new Set(result.runIds)).toEqual(new Set([waiting.id, paused.id, scheduled.id]))
    expect(result).toMatchObject({ refused: [], more: false })
    expect(await ended(second, waiting.id)).toEqual({
      status: 'cancelled',
      steps: { book: 'completed', insure: 'completed', paid: 'cancelled', fly: 'cancelled' },
    })
    expect((await ended(second, paused.id)).status).toBe('cancelled')
    expect((await ended(second, scheduled.id)).status).toBe('cancelled')
    expect(undone).toEqual([])
    const history = await second.runs.history(waiting.id)
    expect(history.at(-1)).toMatchObject({ action: 'drop', by: 'ann', reason: 'its code is gone' })
    assertInvariants(adapter.dump())
    expect((await second.doctor()).findings).toEqual([])
  })

  it('ends those whose undo drains, waits or is parked, and its undos count as skipped', async () => {
    const bench = engines()
    const { clock, adapter, worker } = bench
    const { first, undone, start } = await forgotten(bench)
    const parked = await start('unlucky')
    const draining = await start('lucky')
    await clock.advance('1s')
    await parked.cancel()
    await clock.advance('1s')
    await clock.runUntil(first.stop())
    const second = await worker({ workflows: [changed], ...dev })
    await second.runs.handle(draining.id).cancel()
    await clock.advance('1s')
    const before = [await ended(second, parked.id), await ended(second, draining.id)]

    const result = await clock.runUntil(second.runs.dropForgotten())

    expect(before.map(({ status }) => status)).toEqual(['compensation_failed', 'compensating'])
    expect(result.runIds).toHaveLength(2)
    const steps = { insure: 'completed', paid: 'cancelled', fly: 'cancelled' }
    expect(await ended(second, parked.id)).toEqual({
      status: 'cancelled',
      steps: { ...steps, book: 'compensated' },
    })
    expect(await ended(second, draining.id)).toEqual({
      status: 'cancelled',
      steps: { ...steps, book: 'completed' },
    })
    expect((await second.runs.get(parked.id))?.steps[0]?.undo).toMatchObject({ skipped: true })
    expect(undone).toEqual(['book'])
    assertInvariants(adapter.dump())
  })

  it('ends the undo of a failed run, relays and all, as its plan said', async () => {
    const bench = engines()
    const { clock, adapter, worker } = bench
    const failing = define('trip', { version: 1 })
      .step('book', { run: () => 1, compensate: () => {} })
      .step('tell', { dependsOn: ['book'], run: () => 1 })
      .step('seat', {
        dependsOn: ['tell'],
        run: () => 1,
        compensate: { run: () => Promise.reject(new Error('no')), retry: { attempts: 9, initial: '1h' } },
      })
      .step('fly', { dependsOn: ['seat'], retry: false, run: () => Promise.reject(new Error('storm')) })
    const first = await worker({ workflows: [failing], ...dev })
    const run = await first.run(failing)
    await clock.advance('1m')
    const before = statuses(await run.status())
    await clock.runUntil(first.stop())
    const second = await worker({ workflows: [changed], ...dev })

    await clock.runUntil(second.runs.dropForgotten())

    expect(before).toMatchObject({ book: 'compensating', tell: 'compensating', seat: 'compensating' })
    expect(await ended(second, run.id)).toEqual({
      status: 'compensated',
      steps: { book: 'compensated', tell: 'completed', seat: 'compensated', fly: 'failed' },
    })
    assertInvariants(adapter.dump())
  })

  it('leaves runs alone that a live worker can run, those of this engine, and those of other workflows', async () => {
    const bench = engines()
    const { clock, worker, engine } = bench
    const { start, workflow } = await forgotten(bench)
    const other = define('other', { version: 1 }).waitForSignal('go', {})
    const served = await start('lucky')
    const own = await engine(dev).run(changed)
    const strange = await engine(dev).run(other)
    await clock.advance('1s')
    const observer = engine({ workflows: [changed], ...dev })

    const none = await clock.runUntil(observer.runs.dropForgotten())
    const named = await clock.runUntil(observer.runs.dropForgotten({ workflow: 'other' }))

    expect(none.runIds).toEqual([])
    expect(named.runIds).toEqual([strange.id])
    expect((await served.status()).status).toBe('waiting')
    expect((await own.status()).status).toBe('running')
    await worker({ workflows: [changed], ...dev })
    await served.signal('paid', 1)
    expect(await clock.runUntil(served.result())).toMatchObject({ fly: 'flown' })
    expect(workflow.version).toBe(1)
  })

  it('drops nothing in a dry run, and no more than the limit', async () => {
    const bench = engines()
    const { clock, worker } = bench
    const { first, start } = await forgotten(bench)
    const runs = []
    for (let index = 0; index < 60; index += 1) runs.push(await start('lucky', `k${index}`))
    await clock.advance('1s')
    await clock.runUntil(first.stop())
    const second = await worker({ workflows: [changed], ...dev })

    const dry = await second.runs.dropForgotten({ dryRun: true })
    const untouched = await second.runs.count({ status: 'waiting' })
    const some = await clock.runUntil(second.runs.dropForgotten({ limit: 55 }))
    const rest = await clock.runUntil(second.runs.dropForgotten())

    expect(dry).toMatchObject({ more: false })
    expect(dry.runIds).toHaveLength(60)
    expect(untouched.count).toBe(60)
    expect([some.runIds.length, some.more]).toEqual([55, true])
    expect([rest.runIds.length, rest.more]).toEqual([5, false])
  })

  it('frees the keys of the runs it drops', async () => {
    const bench = engines()
    const { clock, worker } = bench
    const { first, start } = await forgotten(bench)
    const old = await start('lucky', 'trip:1')
    await clock.advance('1s')
    await clock.runUntil(first.stop())
    const second = await worker({ workflows: [changed], ...dev })
    const taken = await second.run(changed, undefined, { key: 'trip:1' }).catch(({ code }) => code)
    await clock.runUntil(second.runs.dropForgotten())

    const fresh = await second.run(changed, undefined, { key: 'trip:1' })

    expect(taken).toBe('key_conflict')
    expect(fresh.id).not.toBe(old.id)
    expect(await clock.runUntil(fresh.result())).toEqual({ walk: 'walked' })
  })

  it('waits for the lease of a worker that was killed, and refuses a step that is not taken back yet', async () => {
    const bench = engines()
    const { clock, adapter, worker, engine } = bench
    const stopped = new StoppableClock(clock)
    const slow = define('trip', { version: 1 }).step('sleep', { run: () => new Promise(() => {}) })
    const killed = await worker({ workflows: [slow], ...dev, clock: stopped })
    const run = await killed.run(slow)
    await clock.advance('1s')
    stopped.stop()
    const second = engine({ workflows: [changed], ...dev })
    const held = await clock.runUntil(second.runs.dropForgotten())
    await clock.advance('5s')
    const unswept = await clock.runUntil(second.runs.dropForgotten())
    await second.start()
    await clock.advance('2s')

    const swept = await clock.runUntil(second.runs.dropForgotten())

    expect(held).toEqual({ runIds: [], refused: [], more: false })
    expect(unswept.runIds).toEqual([])
    expect(unswept.refused).toMatchObject([
      { runId: run.id, why: expect.stringMatching(/a worker holds it.*its lease has ended/) },
    ])
    expect(swept.runIds).toEqual([run.id])
    assertInvariants(adapter.dump())
  })

  it('tells the parent of a child that it drops', async () => {
    const bench = engines()
    const { clock, adapter, worker, engine } = bench
    const undone: string[] = []
    const leg = trip(undone)
    const tour = define('tour', { version: 1 }).workflow('leg', leg, { input: () => 'lucky' })
    const first = await worker({ workflows: [tour], ...dev })
    const parent = await first.run(tour)
    await clock.advance('1s')
    await clock.runUntil(first.stop())
    const [child] = await engine().runs.list({ parentId: parent.id })
    // The code of the child has changed: the parent's shape is the same.
    const keeps = define('tour', { version: 1 }).workflow('leg', changed, {})
    const second = await worker({ workflows: [keeps], ...dev })

    const dropped = await clock.runUntil(second.runs.dropForgotten())
    const failure = await clock.runUntil(parent.result().catch((error) => error))

    expect(dropped.runIds).toEqual([child?.id])
    expect(failure).toMatchObject({ code: 'run_failed' })
    expect(undone).toEqual([])
    assertInvariants(adapter.dump())
  })

  it('leaves the children of a run that it drops alone', async () => {
    const bench = engines()
    const { clock, adapter, worker, engine } = bench
    const leg = trip()
    const tour = define('tour', { version: 1 }).workflow('leg', leg, { input: () => 'lucky' })
    const first = await worker({ workflows: [tour], ...dev })
    const parent = await first.run(tour)
    await clock.advance('1s')
    await clock.runUntil(first.stop())
    const [child] = await engine().runs.list({ parentId: parent.id })
    const grown = tour.step('rest', { dependsOn: ['leg'], run: () => 1 })
    const second = await worker({ workflows: [grown], ...dev })

    const dropped = await clock.runUntil(second.runs.dropForgotten())
    await clock.advance('1m')

    const lives = engine(dev).runs.handle(leg, child!.id)
    expect(dropped.runIds).toEqual([parent.id])
    expect((await lives.status()).status).toBe('waiting')
    await lives.signal('paid', 1)
    expect(await clock.runUntil(lives.result())).toMatchObject({ fly: 'flown' })
    assertInvariants(adapter.dump())
  })

  it('is refused without development mode, and for options that it does not have', async () => {
    const { engine } = engines()
    const production = engine({ workflows: [changed] })
    const developer = engine({ workflows: [changed], ...dev })

    await expect(production.runs.dropForgotten()).rejects.toMatchObject({
      code: 'action_refused',
      message: expect.stringContaining('is for development'),
    })
    await expect(developer.runs.dropForgotten({ all: true } as object)).rejects.toMatchObject({
      code: 'invalid_option',
    })
    await expect(engine(dev).runs.dropForgotten()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('{ workflow:'),
    })
  })
})

describe('the doctor in development mode', () => {
  it('names forgotten versions, the version that their code states, and how to drop their runs', async () => {
    const bench = engines()
    const { clock, worker, engine } = bench
    const { first, start } = await forgotten(bench)
    const original = await start('lucky')
    const grown = trip().step('rest', { dependsOn: ['fly'], run: () => 1 })
    const second = await worker({ workflows: [grown], ...dev })
    const derived = await second.run(grown)
    await clock.advance('1s')
    await clock.runUntil(first.stop())
    await clock.runUntil(second.stop())
    const third = await worker({ workflows: [changed], ...dev })

    const { findings } = await third.doctor()
    const elsewhere = await engine().doctor()

    expect(findings).toMatchObject([
      { type: 'version_without_worker', version: 1, runIds: [original.id] },
      { type: 'version_without_worker', version: derived.version, runIds: [derived.id] },
    ])
    expect(findings[0]?.message).not.toContain('a shape of version')
    expect(findings[1]?.message).toContain(
      `version ${derived.version} (a shape of version 1, from development mode)`,
    )
    expect(findings[1]?.remedy).toContain('drop the forgotten runs of "trip"')
    expect(elsewhere.findings[1]?.remedy).not.toContain('dropForgotten')
  })
})
