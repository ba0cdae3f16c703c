import type { ApprovalPosition, ApprovalRecord, ApprovalsRequest } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, type Edges, type Graph, waiting } from '../scenario/index.ts'
import type { CaseRun } from '../scenario/run.ts'
import type { Scenario } from '../scenario/scenario.ts'

const TWO: Edges = { first: [], second: [], last: ['first', 'second'] }
const APPROVALS = { first: 'approval', second: 'approval', last: 'approval' } as const

function asking(given: Scenario, name = 'asking'): Promise<Graph> {
  return given.graph(name, TWO, 1, APPROVALS)
}

/** A run whose steps "first" and "second" wait. */
async function waitingRun(given: Scenario, graph: Graph, key?: string): Promise<CaseRun> {
  const run = await given.start(graph, key === undefined ? {} : { key })
  const worker = await given.worker()
  const claims = await worker.claimsOf(run, 'first', 'second')
  await worker.settle(claims.map((claim) => waiting(claim, null)))
  return run
}

async function find(given: Scenario, request: Partial<ApprovalsRequest> = {}) {
  return given.adapter.findApprovals({ kind: 'approval', after: null, limit: 100, ...request })
}

const places = (approvals: readonly ApprovalRecord[]) => approvals.map(({ runId, step }) => [runId, step])

/** Both steps of each run. */
const bothOf = (...runs: readonly CaseRun[]) =>
  runs.flatMap(({ id }) => ['first', 'second'].map((step) => [id, step]))

export const approvalCases: Cases = {
  'steps that wait for an approval are found, newest run first': async (given) => {
    const graph = await asking(given)
    const [old, young] = [await waitingRun(given, graph), await waitingRun(given, graph)]
    expect(places((await find(given)).approvals)).toEqual(bothOf(young, old))
  },

  'each approval names its run, when its wait began, and when it times out': async (given) => {
    const graph = await given.graph('asking', { ask: [] }, 3, { ask: 'approval' })
    const run = await given.start(graph, { key: 'order:1' })
    const worker = await given.worker()
    await given.advance(50)
    const now = await given.adapter.now()
    await worker.settle([waiting(await worker.claimOf(run, 'ask'), { afterMs: 60_000 })])

    const [approval, ...others] = (await find(given)).approvals

    expect(others).toEqual([])
    expect(approval).toEqual({
      runId: run.id,
      workflow: 'asking',
      version: 3,
      key: 'order:1',
      step: 'ask',
      since: expect.closeTo(now, -2),
      timeoutAt: expect.closeTo(now + 60_000, -2),
    })
  },

  'other waits, decided approvals and approvals still to come are not found': async (given) => {
    const edges = { signal: [], sleep: [], works: [], ask: [], decided: [], later: ['ask'] }
    const kinds = { signal: 'signal', sleep: 'sleep', ask: 'approval' } as const
    const more = { decided: 'approval', later: 'approval' } as const
    const graph = await given.graph('mixed', edges, 1, { ...kinds, ...more })
    const run = await given.start(graph)
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 'signal', 'sleep', 'works', 'ask', 'decided')
    await worker.settle(claims.map((claim) => waiting(claim, null)))
    await given.signal(run, 'decided')

    expect(places((await find(given)).approvals)).toEqual([[run.id, 'ask']])
  },

  'steps that wait for a signal are found alone, and paged through': async (given) => {
    const edges = { ask: [], paid: [], sent: [], gone: [] }
    const kinds = { ask: 'approval', paid: 'signal', sent: 'signal', gone: 'signal' } as const
    const run = await given.start(await given.graph('mixed', edges, 1, kinds))
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 'ask', 'paid', 'sent', 'gone')
    await worker.settle(claims.map((claim) => waiting(claim, null)))
    await given.signal(run, 'gone')

    const first = await find(given, { kind: 'signal', limit: 1 })
    expect(places(first.approvals)).toEqual([[run.id, 'paid']])
    const next = await find(given, { kind: 'signal', after: first.cursor })
    expect(places(next.approvals)).toEqual([[run.id, 'sent']])
    expect((await find(given, { kind: 'signal', step: 'ask' })).approvals).toEqual([])
  },

  'ended and stopped runs have no pending approvals; paused runs do': async (given) => {
    const graph = await asking(given)
    const [paused, stopping, over] = [
      await waitingRun(given, graph),
      await waitingRun(given, graph),
      await waitingRun(given, graph),
    ]
    await given.operate(paused).pause()
    await given.cancel(stopping, over)
    await given.undo(over)

    expect(places((await find(given)).approvals)).toEqual(bothOf(paused))
    expect(await given.signal(paused, 'first')).toEqual({ result: 'delivered' })
    expect(places((await find(given)).approvals)).toEqual([[paused.id, 'second']])
  },

  'approvals are found by workflow and by step': async (given) => {
    const [one, other] = [await asking(given, 'one'), await asking(given, 'other')]
    const [a, b] = [await waitingRun(given, one), await waitingRun(given, other)]

    expect(places((await find(given, { workflow: 'one' })).approvals)).toEqual(bothOf(a))
    expect(places((await find(given, { step: 'second' })).approvals)).toEqual([
      [b.id, 'second'],
      [a.id, 'second'],
    ])
    expect((await find(given, { workflow: 'one', step: 'first' })).approvals).toHaveLength(1)
    expect((await find(given, { workflow: 'none' })).approvals).toEqual([])
    expect((await find(given, { step: 'none' })).approvals).toEqual([])
  },

  'paging meets each approval once, in pages of the requested size, and ends': async (given) => {
    const graph = await asking(given)
    const runs: CaseRun[] = []
    for (let n = 0; n < 3; n += 1) runs.unshift(await waitingRun(given, graph))
    for (const limit of [1, 2, 3, 4, 6, 7]) {
      const met: (readonly string[])[] = []
      let after: ApprovalPosition | null = null
      for (let more = true; more && met.length < 20; ) {
        const part = await find(given, { after, limit })
        expect(part.approvals.length).toBeLessThanOrEqual(limit)
        met.push(...(places(part.approvals) as string[][]))
        after = part.cursor
        more = part.more
      }
      expect(met).toEqual(bothOf(...runs))
    }
  },

  'paging continues after a step that was decided meanwhile': async (given) => {
    const run = await waitingRun(given, await asking(given))
    const { cursor } = await find(given, { limit: 1 })
    await given.signal(run, 'first')
    expect(places((await find(given, { after: cursor })).approvals)).toEqual([[run.id, 'second']])
  },

  'a store without approvals finds none': async (given) => {
    await given.pair()
    expect(await find(given)).toEqual({ approvals: [], cursor: null, more: false })
    await given.start(await asking(given))
    expect((await find(given)).approvals).toEqual([])
  },

  'an approval that moved to another version is found under its new version, once': async (given) => {
    const run = await waitingRun(given, await asking(given))
    const moved = await given.graph('asking', { zero: [], ...TWO }, 2, APPROVALS)
    const { id: _, ...record } = moved.saved
    await given.operator().migrateRun(run.id, { name: 'asking', version: 2, record } as never)

    const { approvals } = await find(given)

    expect(places(approvals)).toEqual(bothOf(run))
    expect(approvals.map(({ version }) => version)).toEqual([2, 2])
  },

  'an approval that ended is not found any more': async (given) => {
    const run = await waitingRun(given, await asking(given))
    await given.signal(run, 'first')
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(run, 'first'))])
    expect(places((await find(given)).approvals)).toEqual([[run.id, 'second']])
  },
}
