import { stateAt, type ViewRun } from '@belay/graph-view'
import type { Engine, WorkflowDefinition } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { viewRun } from '../src/view-run.ts'
import { shop } from './setup/shop.ts'
import { gates, STATUSES } from './setup/statuses.ts'
import { testStore } from './setup/store.ts'

async function viewOf(engine: Engine, id: string): Promise<ViewRun> {
  const run = (await engine.runs.get(id))!
  const { steps } = await engine.workflows.get(run.workflow, run.version)
  return viewRun(run, steps, await engine.runs.attempts(id), await engine.runs.history(id))
}

function step(view: ViewRun, name: string) {
  const found = view.steps.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no step ${name}`)
  return found
}

describe('a run as it is drawn', () => {
  let engine: Engine

  beforeAll(async () => {
    const store = await testStore({ isShared: true })
    engine = store.engine({ workflows: Object.values(STATUSES) as readonly WorkflowDefinition[] })
    await engine.start()
  })

  // The engine waits for its handlers when it is closed.
  afterAll(() => {
    for (const each of Object.values(gates)) each.open()
  })

  const reach = (id: string, status: ViewRun['status']) =>
    vi.waitFor(
      async () => {
        const view = await viewOf(engine, id)
        if (view.status !== status) throw new Error(`it is ${view.status}`)
        return view
      },
      { timeout: 10_000 },
    )

  test('scheduled', async () => {
    const startAt = new Date(Date.now() + 3_600_000)
    const { id } = await engine.run(STATUSES.failed, undefined, { startAt })
    const view = await reach(id, 'scheduled')
    expect(view).toMatchObject({ startAt: startAt.getTime(), rounds: 1, steps: [{ known: [], attempts: 0 }] })
    expect([view.stoppedAt, view.drainedAt, view.finishedAt]).toEqual([undefined, undefined, undefined])
  })

  test('running', async () => {
    const { id } = await engine.run(STATUSES.running)
    await vi.waitFor(async () => {
      expect(step(await viewOf(engine, id), 'work').status).toBe('running')
    }, 20_000)
    const view = await viewOf(engine, id)
    expect(view.status).toBe('running')
    const [attempt] = step(view, 'work').known
    expect(attempt).toMatchObject({ direction: 'forward', round: 1, attempt: 1, ended: 'running' })
    expect(attempt).not.toHaveProperty('endAt')
  })

  test('waiting, with a wait that has ended and one that goes on', async () => {
    const { id } = await engine.run(STATUSES.waiting)
    await vi.waitFor(async () => {
      expect(step(await viewOf(engine, id), 'go').status).toBe('waiting')
    }, 20_000)
    const view = await viewOf(engine, id)
    const nap = step(view, 'nap').known.find(({ ended }) => ended === 'waiting')!
    const go = step(view, 'go').known
    expect(nap.endAt).toBeGreaterThanOrEqual(nap.startAt)
    expect(go).toMatchObject([{ ended: 'waiting' }])
    expect(go[0]?.endAt).toBeUndefined()
    await engine.runs.handle(id).signal<string>('go', {})
    const over = await reach(id, 'completed')
    const told = step(over, 'go').known.filter(({ ended }) => ended === 'waiting')
    expect(told).toMatchObject([{ endAt: step(over, 'go').signalledAt }])
  })

  test('parked after a pivot: it was not stopped', async () => {
    const { id } = await engine.run(STATUSES.parked)
    const view = await reach(id, 'parked')
    expect(step(view, 'mail')).toMatchObject({ status: 'failed', error: 'PermanentError [permanent]' })
    expect(step(view, 'mail').known).toMatchObject([{ ended: 'failed', error: 'PermanentError [permanent]' }])
    expect([step(view, 'pay').pivot, view.cause, view.stoppedAt]).toEqual([true, undefined, undefined])
  })

  test('paused, then cancelled', async () => {
    const { id } = await engine.run(STATUSES.waiting)
    const run = engine.runs.handle(id)
    await run.pause({ by: 'ada' })
    expect((await viewOf(engine, id)).status).toBe('paused')
    await run.cancel({ by: 'ada', reason: 'not wanted' })
    const view = await reach(id, 'cancelled')
    const cancel = (await engine.runs.history(id)).find(({ action }) => action === 'cancel')!
    expect(view.cause).toEqual({ type: 'cancelled', text: 'not wanted' })
    expect(view.stoppedAt).toBe(cancel.at.getTime())
    expect(view.drainedAt).toBeGreaterThanOrEqual(view.stoppedAt!)
  })

  test('stopped, while another handler still runs', async () => {
    const { id } = await engine.run(STATUSES.draining)
    const view = await reach(id, 'compensating')
    expect(step(view, 'slow').status).toBe('running')
    expect(view.stoppedAt).toBe(step(view, 'ship').known.at(-1)?.endAt)
    expect(view.drainedAt).toBeUndefined()
    gates.drain.open()
    const over = await reach(id, 'failed')
    expect(over.drainedAt).toBe(step(over, 'slow').known.at(-1)?.endAt)
  })

  test('compensating: its undo runs', async () => {
    const { id } = await engine.run(STATUSES.compensating)
    await vi.waitFor(async () => {
      expect(step(await viewOf(engine, id), 'pay').undo?.attempts).toBe(1)
    }, 20_000)
    const view = await viewOf(engine, id)
    expect(view.status).toBe('compensating')
    const undo = step(view, 'pay').known.at(-1)!
    expect(undo).toMatchObject({ direction: 'undo', attempt: 1, ended: 'running' })
    expect(view.drainedAt).toBe(undo.startAt)
    gates.undo.open()
    const over = await reach(id, 'compensated')
    expect(step(over, 'pay').known.map(({ ended }) => ended)).toEqual(['completed', 'completed'])
    await engine.runs.handle(id).retry({ by: 'ada' })
    const again = await vi.waitFor(
      async () => {
        const seen = await viewOf(engine, id)
        expect([seen.status, seen.rounds]).toEqual(['compensated', 2])
        return seen
      },
      { timeout: 10_000 },
    )
    expect(again.stoppedAt).toBeGreaterThan(over.finishedAt!)
    expect(again.drainedAt).toBeGreaterThanOrEqual(again.stoppedAt!)
  })

  test('a step that waits for its next try', async () => {
    const { id } = await engine.run(STATUSES.retrying)
    const view = await vi.waitFor(async () => {
      const seen = await viewOf(engine, id)
      expect(step(seen, 'call').failures).toBe(1)
      return seen
    }, 20_000)
    const { known, dueAt, attemptsMax } = step(view, 'call')
    expect(known).toMatchObject([{ attempt: 1, ended: 'retrying', error: 'Error' }])
    expect(known[0]?.endAt).toBeLessThan(dueAt!)
    expect(attemptsMax).toBe(5)
  })

  test('failed: nothing had to be undone', async () => {
    const { id } = await engine.run(STATUSES.failed)
    const view = await reach(id, 'failed')
    expect(view.cause).toEqual({ type: 'step_failed', step: 'ship', text: 'PermanentError [permanent]' })
    expect(view.stoppedAt).toBe(view.drainedAt)
  })

  test('a deadline that passed is when it stopped', async () => {
    const { id } = await engine.run(STATUSES.waiting, undefined, { deadline: '1ms' })
    const view = await vi.waitFor(
      async () => {
        const seen = await viewOf(engine, id)
        expect(seen.finishedAt).toBeDefined()
        return seen
      },
      { timeout: 10_000 },
    )
    expect(view.cause?.type).toBe('deadline')
    expect(view.stoppedAt).toBe((await engine.runs.get(id))!.deadlineAt!.getTime())
  })

  test('completed, with the first 400 items of a large map', async () => {
    const { id } = await engine.run(STATUSES.completed)
    const view = await reach(id, 'completed')
    const each = step(view, 'each')
    expect(view.steps.map(({ name }) => name)).toEqual(['each', 'last'])
    expect(each).toMatchObject({ kind: 'map', status: 'completed', dependsOn: [] })
    expect(each.items).toMatchObject({ total: 450, ended: 450, statuses: { completed: 450 } })
    expect(each.items?.some).toHaveLength(400)
    expect(step(view, 'last').dependsOn).toEqual(['each'])
    expect([view.cause, view.stoppedAt, view.drainedAt]).toEqual([undefined, undefined, undefined])
  })

  test('a map of which an item failed has failed, also once its other items are undone', async () => {
    const { id } = await engine.run(STATUSES.undone)
    const view = await reach(id, 'compensated')
    const each = step(view, 'each')
    expect(each).toMatchObject({ status: 'compensated', items: { failed: true, statuses: { failed: 1 } } })
    const { forward, undo } = stateAt(view, each, view.finishedAt!, 1)
    expect([forward, undo]).toEqual(['failed', 'undone'])
  })

  test('no view has a payload or the message of an error', async () => {
    for (const { id } of await engine.runs.list()) {
      expect(JSON.stringify(await viewOf(engine, id))).not.toContain('secret')
    }
  })
})

describe.each([['newest' as const], ['keep' as const]])('attempts that are known: %s', (attempts) => {
  test('a parked undo, and an undone order', async () => {
    const at = await shop(attempts === 'keep' ? { attempts } : {})
    const parked = await viewOf(at.worker, at.runs['order:9185'].id)
    const forward = step(parked, 'bookCourier').known
    const newest = { direction: 'forward', attempt: 3, ended: 'failed', error: 'Error' }
    expect(forward.at(-1)).toMatchObject(newest)
    expect(forward.map(({ ended }) => ended)).toEqual(
      attempts === 'keep' ? ['retrying', 'retrying', 'failed'] : ['failed'],
    )
    expect(step(parked, 'bookCourier').attempts).toBe(3)
    expect(step(parked, 'chargeCard').known.map(({ direction, ended }) => `${direction} ${ended}`)).toEqual([
      'forward completed',
      'undo failed',
    ])
    expect(step(parked, 'chargeCard').undo).toMatchObject({ attempts: 1, skipped: false })
    expect(step(parked, 'printLabel').skipped).toBe('"route" chose "express"')
    expect(parked.stoppedAt).toBe(forward.at(-1)?.endAt)
    const undone = await viewOf(at.worker, at.runs['order:9184'].id)
    const undos = step(undone, 'packItem').items!.some.map(({ undoStartAt }) => undoStartAt!)
    expect(undone.drainedAt).toBe(Math.min(...undos))
    expect(undone.finishedAt).toBeGreaterThanOrEqual(undone.drainedAt!)
  })

  test('an undo that an operator marked as done by hand', async () => {
    const at = await shop(attempts === 'keep' ? { attempts } : {})
    const run = at.runs['order:9185']
    await run.skipCompensation('chargeCard', { by: 'ada' })
    const view = await vi.waitFor(async () => {
      const seen = await viewOf(at.worker, run.id)
      expect(seen.status).toBe('compensated')
      return seen
    }, 20_000)
    expect(step(view, 'chargeCard').undo?.skipped).toBe(true)
    expect(step(view, 'chargeCard').known.filter(({ direction }) => direction === 'undo')).toHaveLength(1)
  })
})
