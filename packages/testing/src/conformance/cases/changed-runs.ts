import type { ChangedRun } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { CANCELLED, type CaseRun, completed, PAIR, parked, type Scenario } from '../scenario/index.ts'

const KEY = 'order: "7", {x}'
// These would break a text list that is quoted carelessly.
const TAGS = ['tenant: "7", {x}', 'b']

/** What a store reports about a run whose status changed, whichever call changed it. */
export const changedRunCases: Cases = {
  'a completed run is reported with its definition, its key and its duration': async (given) => {
    const { run, keyless } = await twoRuns(given)
    const worker = await given.worker()
    await given.advance(7_000)

    for (const [one, key] of [
      [run, 'order: "7", {x}'],
      [keyless, null],
    ] as const) {
      await worker.complete(one, 'a')
      const { runs } = await worker.complete(one, 'b')
      expectTold(runs, one, { status: 'completed', key }, 7_000)
    }
  },

  'runs that end in one call are each reported with their own facts': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const other = await given.graph('other', { a: [] })
    const keys = ['one', undefined, 'three']
    const runs = [...(await startAll(given, graph, keys)), ...(await startAll(given, other, keys))]
    const worker = await given.worker()
    const claims = await worker.take()

    const settlement = await worker.settle(claims.map((claim) => completed(claim)))

    const told = new Map(settlement.runs.map((changed) => [changed.runId, changed]))
    expect(told.size).toBe(6)
    runs.forEach((run, index) => {
      const key = keys[index % 3] ?? null
      expect(told.get(run.id)).toMatchObject({ definitionId: run.graph.id, key, status: 'completed' })
    })
  },

  'a run that fails, drains and is undone is reported at each change of its status': async (given) => {
    const { run } = await twoRuns(given)
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.advance(1_000)

    const failure = await worker.fail(run, 'b')
    await given.advance(1_000)
    const [drained] = await given.drain({ runs: [run] })
    const begun = await given.adapter.beginUndo([
      { runId: drained!.runId, endsAs: 'compensated', undos: [{ step: 0, openDependents: 0 }] },
    ])
    await given.advance(1_000)
    const last = await worker.compensate(run, 'a')

    const key = 'order: "7", {x}'
    expectTold(failure.runs, run, { status: 'compensating', key }, 1_000)
    expectTold(begun, run, { status: 'compensating', key }, 2_000)
    expectTold(last.runs, run, { status: 'compensated', key }, 3_000)
  },

  'a run with nothing to undo is reported when its end is recorded': async (given) => {
    const { run } = await twoRuns(given)
    const worker = await given.worker()
    await worker.fail(run, 'a')
    await given.advance(2_000)

    const ended = await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])

    expectTold(ended, run, { status: 'failed', key: 'order: "7", {x}' }, 2_000)
  },

  'a run whose compensation fails for good is reported as parked': async (given) => {
    const { run } = await twoRuns(given)
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.fail(run, 'b')
    await given.drain({ runs: [run] })
    const undos = [{ step: 0, openDependents: 0 }]
    await given.adapter.beginUndo([{ runId: run.id, endsAs: 'compensated', undos }])
    await given.advance(4_000)

    const { runs } = await worker.settle([parked(await worker.claimOf(run, 'a'))])

    expectTold(runs, run, { status: 'compensation_failed', key: 'order: "7", {x}' }, 4_000)
  },

  'runs that are cancelled or whose deadline passes are reported': async (given) => {
    const { run } = await twoRuns(given)
    const overdue = await given.start(await given.graph('overdue', PAIR), { key: 'late', deadlineMs: 5_000 })
    const scheduled = await given.start(run.graph, { startDelayMs: 60_000 })
    await given.advance(5_000)

    const cancelled = await given.adapter.cancelRuns({ runIds: [run.id], cause: CANCELLED })
    const early = await given.adapter.cancelRuns({ runIds: [scheduled.id], cause: CANCELLED })
    const expired = await given.adapter.expireRuns({ limit: 10 })

    expectTold(cancelled, run, { status: 'compensating', key: 'order: "7", {x}' }, 5_000)
    // It never began.
    expectTold(early, scheduled, { status: 'compensating', key: null }, 0)
    expectTold(expired, overdue, { status: 'compensating', key: 'late' }, 5_000)
  },
}

/** A pair with a key and tags that would break a carelessly quoted text list, and a pair without them. */
async function twoRuns(given: Scenario): Promise<{ readonly run: CaseRun; readonly keyless: CaseRun }> {
  const graph = await given.graph('told', PAIR)
  return { run: await given.start(graph, { key: KEY, tags: TAGS }), keyless: await given.start(graph) }
}

async function startAll(
  given: Scenario,
  graph: CaseRun['graph'],
  keys: readonly (string | undefined)[],
): Promise<readonly CaseRun[]> {
  const runs: CaseRun[] = []
  for (const key of keys) runs.push(await given.start(graph, key === undefined ? {} : { key }))
  return runs
}

function expectTold(
  runs: readonly ChangedRun[],
  run: CaseRun,
  expected: Pick<ChangedRun, 'status' | 'key'>,
  durationMs: number,
): void {
  expect(runs).toMatchObject([
    { runId: run.id, definitionId: run.graph.id, tags: expected.key === KEY ? TAGS : [], ...expected },
  ])
  // Real time passes, too.
  expect(runs[0]!.durationMs - durationMs).toBeGreaterThanOrEqual(0)
  expect(runs[0]!.durationMs - durationMs).toBeLessThan(60_000)
  expect(Number.isInteger(runs[0]!.durationMs)).toBe(true)
}
