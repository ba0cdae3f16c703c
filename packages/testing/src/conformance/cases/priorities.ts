import { UNDO_LEAD_MINUTES } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { DIAMOND, PAIR } from '../scenario/index.ts'
import { DEBOUNCE, newCall } from './collecting.ts'
import { expand, mapped } from './mapped-run.ts'

const MINUTE_MS = 60_000

export const priorityCases: Cases = {
  'a step overtakes whatever became ready up to a minute before it, for each level of its priority': async (
    given,
  ) => {
    const graph = await given.graph('pair', PAIR)
    const oldest = await given.start(graph)
    await given.advance(2 * MINUTE_MS)
    const older = await given.start(graph)
    await given.advance(MINUTE_MS)
    const urgent = await given.start(graph, { priority: 2 })
    const worker = await given.worker()
    const order = []
    for (let n = 0; n < 3; n += 1) order.push((await worker.take(1))[0]!.runId)
    expect(order).toEqual([oldest.id, urgent.id, older.id])
  },

  'the greatest priority is overtaken by what became ready long enough before': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const early = await given.start(graph)
    await given.advance(1_000 * MINUTE_MS + 1)
    await given.start(graph, { priority: 1_000 })
    expect(await (await given.worker()).take(1)).toMatchObject([{ runId: early.id }])
  },

  'a step adds its own priority to that of its run': async (given) => {
    const graph = await given.graph('loose', { a: [], b: [], c: ['b'] })
    const run = await given.start(graph, { priority: 3, stepPriorities: [0, 4, 5] })
    expect(await run.record()).toMatchObject({ priority: 3 })
    expect((await run.step('c')).priority).toBe(8)
    const worker = await given.worker()
    expect(await worker.take(1)).toMatchObject([{ step: 1 }])
    await worker.complete(run, 'b')
    expect(await worker.take(1)).toMatchObject([{ step: 2 }])
  },

  'a run without a priority has none': async (given) => {
    const run = await given.pair()
    expect(await run.record()).not.toHaveProperty('priority')
    expect(await run.step('a')).not.toHaveProperty('priority')
  },

  'a step that is due later is claimed by nobody before, and takes its place at the sweep after': async (
    given,
  ) => {
    const graph = await given.graph('pair', PAIR)
    const late = await given.start(graph, { startDelayMs: 2 * MINUTE_MS, priority: 1_000 })
    await given.advance(MINUTE_MS)
    expect(await (await given.worker()).take(1)).toEqual([])
    const other = await given.start(graph)
    await given.advance(MINUTE_MS)
    const worker = await given.worker()
    await given.adapter.sweep({ limit: 10 })
    expect(await worker.take(1)).toMatchObject([{ runId: late.id }])
    expect(await worker.take(10)).toMatchObject([{ runId: other.id }])
  },

  'a run that collects calls has the priority of the call that opened it, also after another has joined':
    async (given) => {
      const graph = await given.graph('pair', PAIR)
      const urgent = newCall(given, graph, DEBOUNCE, { priority: 10 })
      await given.adapter.collectCalls([urgent])
      await given.adapter.collectCalls([newCall(given, graph, DEBOUNCE)])
      await given.advance(4_000)
      const other = await given.start(graph)
      await given.advance(1_000)
      await given.adapter.sweep({ limit: 10 })
      const worker = await given.worker()
      expect(await worker.take(1)).toMatchObject([{ runId: urgent.runId }])
      expect(await worker.take(10)).toMatchObject([{ runId: other.id }])
    },

  'the retry of a step with a priority takes its place again': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = await given.start(graph, { priority: 10 })
    const worker = await given.worker()
    const [claim] = await worker.take(1)
    await given.start(graph)
    await worker.settle([{ ...claim!, type: 'retry', error: '{}', delayMs: 1_000 }])
    await given.advance(1_000)
    await given.adapter.sweep({ limit: 10 })
    expect(await worker.take(1)).toMatchObject([{ runId: run.id, fence: 2 }])
  },

  'an undo goes before every step that goes forward': async (given) => {
    const graph = await given.graph('diamond', DIAMOND)
    const run = await given.start(graph)
    const worker = await given.worker()
    await worker.take(1)
    await worker.complete(run, 'a')
    await given.advance(MINUTE_MS)
    await given.start(graph, { priority: 1_000, stepPriorities: [1_000, 0, 0, 0] })
    await given.cancel(run)
    await given.drain()
    await given.adapter.beginUndo([
      { runId: run.id, endsAs: 'cancelled', undos: [{ step: 0, openDependents: 0 }] },
    ])
    expect(await worker.take(1)).toMatchObject([{ runId: run.id, direction: 'undo' }])
    expect(UNDO_LEAD_MINUTES).toBeGreaterThan(2_000)
  },

  'a claim of undos alone leases these, and leaves what goes forward in the queue': async (given) => {
    const graph = await given.graph('diamond', DIAMOND)
    const run = await given.start(graph)
    const worker = await given.worker()
    await worker.take(1)
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.drain()
    // What goes forward may have been ready for so long that its place is before that of an undo.
    const longReady = await given.start(graph, { priority: 1_000, stepPriorities: [1_000, 0, 0, 0] })
    await given.advance(2_002 * MINUTE_MS)
    const urgent = await given.start(graph, { priority: 1_000, stepPriorities: [1_000, 0, 0, 0] })
    const request = { workerId: worker.id, definitionIds: [graph.id], undosOnly: true }
    expect(await given.adapter.claim({ ...request, limit: 9 })).toMatchObject({ claims: [] })
    await given.adapter.beginUndo([
      { runId: run.id, endsAs: 'cancelled', undos: [{ step: 0, openDependents: 0 }] },
    ])

    expect(await given.adapter.claim({ ...request, limit: 9 })).toMatchObject({
      claims: [{ runId: run.id, step: 0, direction: 'undo', attempt: 1 }],
    })
    expect(await given.adapter.claim({ ...request, limit: 9 })).toMatchObject({ claims: [] })
    expect((await worker.take(9)).map(({ runId }) => runId)).toEqual([longReady.id, urgent.id])
    const unknown = { ...request, workerId: given.ids.workerId(), limit: 1 }
    expect(await given.adapter.claim(unknown)).toBe('lost')
  },

  'an undo that is retried is claimed alone once the sweep after its time has placed it': async (given) => {
    const graph = await given.graph('diamond', DIAMOND)
    const run = await given.start(graph)
    const worker = await given.worker()
    await worker.take(1)
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.drain()
    await given.adapter.beginUndo([
      { runId: run.id, endsAs: 'cancelled', undos: [{ step: 0, openDependents: 0 }] },
    ])
    const [undo] = await worker.take(1)
    await worker.settle([{ ...undo!, type: 'retry', error: '{}', delayMs: 1_000 }])
    const request = { workerId: worker.id, definitionIds: [graph.id], undosOnly: true, limit: 1 }
    expect(await given.adapter.claim(request)).toMatchObject({ claims: [] })
    await given.advance(1_000)
    await given.adapter.sweep({ limit: 10 })
    expect(await given.adapter.claim(request)).toMatchObject({
      claims: [{ attempt: 2, fence: undo!.fence + 1 }],
    })
  },

  'an urgent run of one workflow is claimed before a flood of another, by a worker that has both': async (
    given,
  ) => {
    const [flood, other] = [await given.graph('flood', PAIR), await given.graph('other', PAIR)]
    for (let n = 0; n < 30; n += 1) await given.start(flood)
    await given.advance(MINUTE_MS)
    const urgent = await given.start(other, { priority: 2 })
    const worker = await given.worker()

    expect((await worker.take(5))[0]).toMatchObject({ runId: urgent.id })
    expect(await worker.take()).toHaveLength(26)
  },

  'steps claimed one at a time come in the order of their places, whatever their workflows': async (
    given,
  ) => {
    const graphs = [await given.graph('one', PAIR), await given.graph('other', PAIR)]
    const runs = []
    for (const [place, priority] of [5, 0, 3, 1, 9, 2].entries())
      runs.push({ priority, run: await given.start(graphs[place % 2]!, { priority }) })
    const worker = await given.worker()
    const order = []
    for (const _ of runs) order.push((await worker.take(1))[0]!.runId)

    const byPriority = [...runs].sort((one, next) => next.priority - one.priority)
    expect(order).toEqual(byPriority.map(({ run }) => run.id))
  },

  'one claim may take steps of the workflow whose first step is the most urgent, and the next begins with the other one':
    async (given) => {
      const [mixed, other] = [await given.graph('mixed', PAIR), await given.graph('other', PAIR)]
      for (let n = 0; n < 30; n += 1) await given.start(mixed)
      const first = await given.start(mixed, { priority: 20 })
      const second = await given.start(other, { priority: 10 })
      const worker = await given.worker()

      const claimed = await worker.take(5)
      const next = claimed.some(({ runId }) => runId === second.id) ? claimed : await worker.take(1)

      expect(claimed[0]).toMatchObject({ runId: first.id })
      expect(next.map(({ runId }) => runId)).toContain(second.id)
    },

  'items of a map have the priority of their map': async (given) => {
    const { run, worker } = await mapped(given, { priority: 2 })
    await expand(worker, run, 2)
    const plain = await given.start(await given.graph('pair', PAIR), { priority: 1 })
    expect((await run.read()).steps.map(({ priority }) => priority)).toEqual([2, 2, 2, 2, 2, 2])
    const order = []
    for (let n = 0; n < 3; n += 1) order.push((await worker.take(1))[0]!.runId)
    expect(order).toEqual([run.id, run.id, plain.id])
  },

  'a run gets another priority, and its waiting steps the places they would have had': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const older = await given.start(graph)
    await given.advance(MINUTE_MS)
    const run = await given.start(graph, { stepPriorities: [0, 7] })
    await given.advance(5 * MINUTE_MS)
    expect(await given.operate(run).setPriority(2, { by: 'ann' })).toBe(true)
    expect(await given.operate(run).setPriority(2)).toBe(false)

    expect(await run.record()).toMatchObject({ priority: 2 })
    expect((await run.step('b')).priority).toBe(9)
    expect(await given.adapter.readHistory({ runId: run.id, limit: 10 })).toMatchObject([
      { action: 'set_priority', actor: 'ann' },
    ])
    const worker = await given.worker()
    expect(await worker.take(1)).toMatchObject([{ runId: run.id }])
    expect(await worker.take(10)).toMatchObject([{ runId: older.id }])
  },

  'a run loses its priority, and what was queued with it is stale': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = await given.start(graph, { priority: 9 })
    await given.advance(1)
    await given.operate(run).setPriority(0)
    expect(await run.record()).not.toHaveProperty('priority')
    const older = await given.start(graph, { priority: 1 })
    const worker = await given.worker()
    expect(await worker.take(1)).toMatchObject([{ runId: older.id }])
    expect(await worker.take(10)).toMatchObject([{ runId: run.id, fence: 2 }])
  },

  'a run that has ended or is being undone takes no other priority': async (given) => {
    const run = await given.pair()
    await given.cancel(run)
    await expect(given.operate(run).setPriority(5)).rejects.toMatchObject({ code: 'action_refused' })
  },

  'a paused run takes another priority, and has it once it is resumed': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const older = await given.start(graph)
    const run = await given.start(graph)
    await given.operate(run).pause()
    await given.operate(run).setPriority(3)
    await given.operate(run).resume()
    expect((await (await given.worker()).take(2)).map(({ runId }) => runId)).toEqual([run.id, older.id])
  },
}
