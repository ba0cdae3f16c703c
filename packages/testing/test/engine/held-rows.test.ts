import { define, StoreUnavailableError } from '@belay/workflow'
import { type Adapter, StoreContendedError } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { changed, engines } from './bench-of-engines.ts'

const held = () => new StoreContendedError('somebody holds a row')

describe('while another transaction holds a row', () => {
  it('only the outcome that needs the row waits; the other outcomes of its batch are recorded', async () => {
    const { clock, adapter, engine, worker } = engines()
    const runIds: string[] = []
    let isHeld = true
    let batches = 0
    const holding = changed(adapter, {
      async settle(settlement) {
        if (settlement.outcomes.length > 1) batches += 1
        if (isHeld && settlement.outcomes.some(({ runId }) => runId === runIds[7])) throw held()
        return adapter.settle(settlement)
      },
    })
    const workflow = define('work', { version: 1 }).step('work', { run: () => 'done' })
    const runs = await engine().runMany(
      workflow,
      Array.from({ length: 50 }, () => ({})),
    )
    runIds.push(...runs.map(({ id }) => id))
    const told: string[] = []
    const working = await worker({ adapter: holding, workflows: [workflow], concurrency: 100 })
    working.on('step.held_up', ({ runId }) => told.push(runId))

    await clock.runUntil(Promise.all(runs.filter(({ id }) => id !== runIds[7]).map((run) => run.result())), {
      limit: '1s',
    })
    expect(batches).toBeGreaterThan(1)
    expect(await runs[7]!.status()).toMatchObject({ status: 'running' })
    await clock.advance('10s')
    expect(told).toEqual([runIds[7]])

    isHeld = false
    await clock.runUntil(runs[7]!.result(), { limit: '2s' })
  })

  it('only the start with the held key waits, and then fails with an error that names the key', async () => {
    const { clock, adapter, engine } = engines()
    const starter = engine({ adapter: keyHeld(adapter, 'order:7') })
    const workflow = define('order', { version: 1 }).step('work', { run: () => 'done' })

    const starts = Array.from({ length: 20 }, (_, n) =>
      starter.run(workflow, undefined, { key: `order:${n}` }),
    )
    const waiting = starts[7]!.catch((error: unknown) => error)
    await clock.runUntil(Promise.all(starts.filter((_, n) => n !== 7)), { limit: '1s' })

    expect(await clock.runUntil(waiting, { limit: '15s' })).toMatchObject({
      code: 'store_contended',
      message: expect.stringMatching(/workflow "order" with key "order:7" was not started: for 10 s another/),
    })
  })

  it('a start whose key becomes free while it waits succeeds', async () => {
    const { clock, adapter, engine } = engines()
    const keys = { held: true }
    const starter = engine({ adapter: keyHeld(adapter, 'order:7', keys) })
    const workflow = define('order', { version: 1 }).step('work', { run: () => 'done' })
    const starting = starter.run(workflow, undefined, { key: 'order:7' })
    await clock.advance('3s')
    keys.held = false

    expect(await clock.runUntil(starting, { limit: '2s' })).toMatchObject({ created: true })
  })

  it('only the run with the held row waits for its undo', async () => {
    const { clock, adapter, engine, worker } = engines()
    const runIds: string[] = []
    let isHeld = true
    const holding = changed(adapter, {
      async beginUndo(plans, lease) {
        if (isHeld && plans.some(({ runId }) => runId === runIds[2])) throw held()
        return adapter.beginUndo(plans, lease)
      },
    })
    const workflow = define('undo', { version: 1 })
      .step('reserve', { run: () => 'reserved', compensate: () => {} })
      .step('fail', {
        dependsOn: ['reserve'],
        retry: false,
        run: () => {
          throw new Error('no')
        },
      })
    const runs = await engine().runMany(
      workflow,
      Array.from({ length: 6 }, () => ({})),
    )
    runIds.push(...runs.map(({ id }) => id))
    await worker({ adapter: holding, workflows: [workflow] })
    const ends = runs.map((run) => run.result().catch(() => run.id))

    await clock.runUntil(Promise.all(ends.filter((_, n) => n !== 2)), { limit: '5s' })
    expect(await runs[2]!.status()).toMatchObject({ status: 'compensating' })
    isHeld = false
    await clock.runUntil(ends[2]!, { limit: '5s' })
    expect(await runs[2]!.status()).toMatchObject({ status: 'compensated' })
  })
})

describe('a store that does not answer at all', () => {
  it('close() takes at most its timeout and a few seconds', async () => {
    const { clock, adapter, engine } = engines()
    let isSilent = false
    const silent = silenced(adapter, () => isSilent)
    const workflow = define('work', { version: 1 }).step('work', { run: () => new Promise(() => {}) })
    const closing = engine({ adapter: silent, workflows: [workflow] })
    await closing.start()
    await closing.run(workflow)
    await clock.advance('1s')
    isSilent = true
    const before = clock.now()

    await clock.runUntil(closing.close({ timeout: '1s' }), { limit: '10s' })

    expect(clock.now() - before).toBeLessThanOrEqual(7_000)
  })

  it('a worker loses nothing: the outcome is recorded once the store answers', async () => {
    const { clock, adapter, worker } = engines()
    let isDown = false
    let calls = 0
    const down = changed(adapter, {
      async settle(settlement) {
        if (isDown) throw new StoreUnavailableError('the host name is not known')
        return adapter.settle(settlement)
      },
    })
    const workflow = define('work', { version: 1 }).step('work', {
      run: () => {
        isDown = true
        calls += 1
      },
    })
    const engine = await worker({ adapter: down, workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('20s')
    isDown = false

    await clock.runUntil(run.result(), { limit: '40s' })
    expect(calls).toBe(1)
  })
})

/** A store in which an open transaction has taken a key. */
function keyHeld(adapter: Adapter, key: string, keys = { held: true }): Adapter {
  return changed(adapter, {
    async startRuns(runs, options) {
      if (keys.held && runs.some((run) => run.key === key)) throw held()
      return adapter.startRuns(runs, options)
    },
  })
}

/** A store that stops answering. */
function silenced(adapter: Adapter, isSilent: () => boolean): Adapter {
  const verbs = Object.entries(adapter).filter(([, verb]) => typeof verb === 'function')
  const silent = verbs.map(([name, verb]) => [
    name,
    (...args: unknown[]) => (isSilent() ? new Promise(() => {}) : verb(...args)),
  ])
  return changed(adapter, { ...Object.fromEntries(silent), wake: () => {} })
}
