import type { CollectedRun, CollectPolicy, NewCall } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { CaseRun, DIAMOND, type Graph, PAIR, retry, type Scenario } from '../scenario/index.ts'

export const DEBOUNCE: CollectPolicy = { mode: 'debounce', windowMs: 5_000, limitMs: 12_000, callsMax: null }
const THROTTLE: CollectPolicy = { mode: 'throttle', windowMs: 60_000, limitMs: null, callsMax: null }
export const BATCH: CollectPolicy = { mode: 'batch', windowMs: 1_000, limitMs: null, callsMax: 3 }

/** Calls of one graph, which are collected together unless they have another key. */
export const collectingCases: Cases = {
  'a debounced run begins some time after the last call, with its input and tags': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const first = await call(given, graph, DEBOUNCE, { input: '1', tags: ['a'] })
    await given.advance(3_000)
    const second = await call(given, graph, DEBOUNCE, { input: '2', tags: ['b'] })
    const worker = await given.worker()

    expect([first, second]).toMatchObject([
      { created: true, position: 1, due: false },
      { created: false, position: 2, due: false, repeated: false, runId: first.runId },
    ])
    expect(second.beginsAt - first.beginsAt).toBeCloseTo(3_000, 0)
    await given.advance(4_999)
    expect(await worker.take()).toEqual([])
    expect(await statusOf(given, first)).toBe('scheduled')
    await given.advance(1)

    expect(await worker.take()).toMatchObject([{ runId: first.runId, attempt: 1 }])
    expect(await inputOf(given, first)).toBe('2')
    expect((await given.adapter.readRun(first.runId))!.run.tags).toEqual(['b'])
  },

  'a debounced run begins at its limit, although calls go on': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const first = await call(given, graph, DEBOUNCE)
    for (const input of ['4', '8']) {
      await given.advance(4_000)
      await call(given, graph, DEBOUNCE, { input })
    }
    await given.advance(4_000)
    const late = await call(given, graph, DEBOUNCE, { input: '12' })

    expect(late).toMatchObject({ created: true, position: 1 })
    expect(await (await given.worker()).take()).toMatchObject([{ runId: first.runId }])
    expect(await inputOf(given, first)).toBe('8')
  },

  'a call after the run has begun, or was due, opens another run and changes nothing': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const first = await call(given, graph, DEBOUNCE, { input: '1' })
    await given.advance(5_000)
    const due = await call(given, graph, DEBOUNCE, { input: '2' })
    await (await given.worker()).take()
    const begun = await call(given, graph, DEBOUNCE, { input: '3' })

    expect([due, begun]).toMatchObject([{ created: true }, { created: false, runId: due.runId }])
    expect(await inputOf(given, first)).toBe('1')
    expect(await given.adapter.readCollected(first.runId)).toMatchObject({ calls: 1, collecting: false })
    expect(await given.adapter.readCollected(due.runId)).toEqual({ key: 'k', calls: 2, collecting: true })
  },

  'a throttled workflow starts at once, then once for all calls of a period': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const leading = await call(given, graph, THROTTLE, { input: '1' })
    expect(leading).toMatchObject({ created: true, due: true })
    expect(await worker.take()).toMatchObject([{ runId: leading.runId }])
    await given.advance(10_000)
    const trailing = await call(given, graph, THROTTLE, { input: '2' })
    await given.advance(10_000)
    const joined = await call(given, graph, THROTTLE, { input: '3' })

    expect(trailing).toMatchObject({ created: true, due: false })
    expect(joined).toMatchObject({ created: false, runId: trailing.runId, beginsAt: trailing.beginsAt })
    expect(trailing.beginsAt - leading.beginsAt).toBeCloseTo(60_000, 0)
    await given.advance(39_999)
    expect(await worker.take()).toEqual([])
    await given.advance(1)
    expect(await worker.take()).toMatchObject([{ runId: trailing.runId }])
    expect(await inputOf(given, trailing)).toBe('3')
    const next = await call(given, graph, THROTTLE)
    expect(next.beginsAt - trailing.beginsAt).toBeCloseTo(60_000, 0)
  },

  'a throttled workflow starts at once again when a period has passed without a call': async (given) => {
    const graph = await given.graph('pair', PAIR)
    await call(given, graph, THROTTLE)
    await given.advance(60_000)
    expect(await call(given, graph, THROTTLE)).toMatchObject({ created: true, due: true })
  },

  'a batch has the inputs of its calls in their order, and begins when it is full': async (given) => {
    const graph = await given.graph('diamond', DIAMOND)
    const first = await call(given, graph, BATCH, { input: '{"a":1}', tags: ['x'] })
    const worker = await given.worker()
    const [second, third, fourth] = await given.adapter.collectCalls([
      newCall(given, graph, BATCH, { input: null }),
      newCall(given, graph, BATCH, { input: '"ü"', tags: ['x', 'y'] }),
      newCall(given, graph, BATCH, { input: '4' }),
    ])

    expect([second, third, fourth]).toMatchObject([
      { runId: first.runId, position: 2, created: false, due: true },
      { runId: first.runId, position: 3, created: false, due: true },
      { position: 1, created: true, due: false },
    ])
    expect(await inputOf(given, first)).toBe('[{"a":1},null,"ü"]')
    expect((await given.adapter.readRun(first.runId))!.run.tags).toEqual(['x', 'y'])
    expect(await worker.take()).toMatchObject([{ runId: first.runId }])
    await given.advance(1_000)
    expect(await worker.take()).toMatchObject([{ runId: fourth!.runId }])
    expect(await inputOf(given, fourth!)).toBe('[4]')
  },

  'a call that does not fit into a batch opens the next one, and the full one begins': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const first = await call(given, graph, BATCH, { input: '"12345"', inputMaxBytes: 16 })
    const second = await call(given, graph, BATCH, { input: '"12345"', inputMaxBytes: 16 })

    expect(second).toMatchObject({ created: true, position: 1 })
    expect(await (await given.worker()).take()).toMatchObject([{ runId: first.runId }])
    expect(await inputOf(given, first)).toBe('["12345"]')
  },

  'calls with different keys, or of different definitions, are collected apart': async (given) => {
    const [one, other] = [await given.graph('one', PAIR), await given.graph('other', PAIR)]
    const calls = [
      newCall(given, one, DEBOUNCE, { collectKey: 'b', input: '1' }),
      newCall(given, one, DEBOUNCE, { collectKey: 'a', input: '2' }),
      newCall(given, other, DEBOUNCE, { collectKey: 'a', input: '3' }),
      newCall(given, one, DEBOUNCE, { collectKey: 'b', input: '4' }),
    ]
    const collected = await given.adapter.collectCalls(calls)

    expect(collected.map(({ created }) => created)).toEqual([true, true, true, false])
    expect(new Set(collected.map(({ runId }) => runId)).size).toBe(3)
    expect(await inputOf(given, collected[0]!)).toBe('4')
  },

  'a call that is sent twice counts once, also when its run has begun': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [one, two] = ['1', '2'].map((input) => newCall(given, graph, BATCH, { input, inputHash: input }))
    const [opened] = await given.adapter.collectCalls([one!])
    await given.adapter.collectCalls([two!, two!, one!])
    await given.advance(1_000)
    await (await given.worker()).take()
    const [again, other] = await given.adapter.collectCalls([two!, newCall(given, graph, BATCH)])

    expect(await inputOf(given, opened!)).toBe('[1,2]')
    expect(again).toMatchObject({
      ...{ runId: opened!.runId, position: 2, created: false, repeated: true, due: true },
      inputHash: '2',
    })
    expect(other).toMatchObject({ created: true, repeated: false })
  },

  'a deadline counts from the begin of the run': async (given) => {
    const graph = await given.graph('pair', PAIR)
    await call(given, graph, DEBOUNCE, { deadlineMs: 1_000 })
    await given.advance(3_000)
    const { runId } = await call(given, graph, DEBOUNCE, { deadlineMs: 1_000 })
    const { run } = (await given.adapter.readRun(runId))!

    expect(run.deadlineAt! - run.startAt!).toBeCloseTo(1_000, 0)
    expect(await given.adapter.expireRuns({ limit: 10 })).toEqual([])
  },

  'a claim has the last input, although the queue was read before': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const { runId } = await call(given, graph, DEBOUNCE, { input: '1' })
    await call(given, graph, DEBOUNCE, { input: '2' })
    const worker = await given.worker()
    await given.advance(5_000)
    const claimed = await given.adapter.claim({ workerId: worker.id, definitionIds: [graph.id], limit: 10 })

    expect(claimed).toMatchObject({ claims: [{ runId, step: 0, fence: 2, attempt: 1 }] })
    if (claimed !== 'lost') expect([undefined, '2']).toContain(claimed.claims[0]!.input)
  },

  'a cancelled, paused or failed run takes no more calls': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const cancelled = await call(given, graph, DEBOUNCE, { input: '1' })
    await given.cancel(new CaseRun(given.adapter, cancelled.runId, graph))
    const paused = await call(given, graph, DEBOUNCE, { input: '2' })
    await given.operate(new CaseRun(given.adapter, paused.runId, graph)).pause()
    const third = await call(given, graph, DEBOUNCE, { input: '3' })

    expect([paused, third]).toMatchObject([{ created: true }, { created: true }])
    expect(await inputOf(given, paused)).toBe('2')
    expect(await given.adapter.readCollected(paused.runId)).toMatchObject({ collecting: false })
  },

  'a throttled run that was cancelled before it began is replaced by one at the same time': async (given) => {
    const graph = await given.graph('pair', PAIR)
    await call(given, graph, THROTTLE)
    const trailing = await call(given, graph, THROTTLE)
    await given.cancel(new CaseRun(given.adapter, trailing.runId, graph))
    const other = await call(given, graph, THROTTLE)

    expect(other).toMatchObject({ created: true })
    expect(other.beginsAt).toBeCloseTo(trailing.beginsAt, 0)
  },

  'a run whose first step was released again takes no more calls': async (given) => {
    const graph = await given.graph('loose', { a: [], b: [] })
    const { runId } = await call(given, graph, { ...DEBOUNCE, windowMs: 1_000, limitMs: null })
    const worker = await given.worker()
    await given.advance(1_000)
    await worker.take()
    const run = new CaseRun(given.adapter, runId, graph)
    await worker.settle([retry(await worker.claimOf(run, 'a'), 60_000)])

    expect(await call(given, graph, DEBOUNCE)).toMatchObject({ created: true })
    expect(await inputOf(given, { runId })).toBe('"input"')
  },

  'a call of an unknown definition is refused, and nothing is stored': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const unknown = { ...newCall(given, graph, BATCH), definitionId: 1_000_000 }
    const before = await given.snapshot()

    const end = given.adapter.collectCalls([newCall(given, graph, BATCH), unknown])

    await expect(end).rejects.toMatchObject({ code: 'unknown_workflow' })
    expect(await given.snapshot()).toEqual(before)
    expect(await call(given, graph, BATCH)).toMatchObject({ created: true })
  },

  'a run that was started without collecting carries no calls, nor does an unknown one': async (given) => {
    const run = await given.pair()
    expect(await given.adapter.readCollected(run.id)).toBeNull()
    expect(await given.adapter.readCollected(given.ids.runId())).toBeNull()
    expect(await given.adapter.collectCalls([])).toEqual([])
  },

  'pruning a run removes its calls and its key': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const first = newCall(given, graph, DEBOUNCE)
    await given.adapter.collectCalls([first])
    await given.advance(5_000)
    await (await given.worker()).complete(new CaseRun(given.adapter, first.runId, graph), 'a')
    await given.advance(1)
    const finishedBefore = await given.adapter.now()

    expect(await given.adapter.prune({ runIds: [first.runId], finishedBefore })).toEqual([first.runId])
    expect(await given.adapter.readCollected(first.runId)).toBeNull()
    // Its id is free again.
    expect(await given.adapter.collectCalls([first])).toMatchObject([{ created: true, repeated: false }])
  },
}

interface CallOptions {
  readonly collectKey?: string
  readonly input?: string | null
  readonly tags?: readonly string[]
  readonly deadlineMs?: number
  readonly inputHash?: string
  readonly inputMaxBytes?: number
  readonly priority?: number
}

/** A call with the key `k` and the input `"input"`, unless others are given. */
export function newCall(
  given: Scenario,
  graph: Graph,
  policy: CollectPolicy,
  { input = '"input"', collectKey = 'k', inputMaxBytes = 1_000, ...others }: CallOptions = {},
): NewCall {
  const runId = given.ids.runId()
  const inputBytes = new TextEncoder().encode(input ?? 'null').length
  return {
    ...{ runId, callId: runId, definitionId: graph.id, workflow: graph.name, key: null },
    ...{ input, collectKey, policy, inputBytes, inputMaxBytes, ...others },
  }
}

async function call(
  given: Scenario,
  graph: Graph,
  policy: CollectPolicy,
  options: CallOptions = {},
): Promise<CollectedRun> {
  const [collected] = await given.adapter.collectCalls([newCall(given, graph, policy, options)])
  return collected!
}

export async function inputOf(
  given: Scenario,
  { runId }: { readonly runId: string },
): Promise<string | null> {
  return (await given.adapter.readRun(runId))!.run.input
}

async function statusOf(given: Scenario, { runId }: CollectedRun): Promise<string> {
  return (await given.adapter.readRun(runId))!.run.status
}
