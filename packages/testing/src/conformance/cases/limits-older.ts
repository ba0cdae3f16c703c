import type { Claim } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { type CaseRun, type CaseWorker, completed, enters, entry, type Scenario } from '../scenario/index.ts'

const LIMIT = 'newest'
const OF_RUN = entry(LIMIT, 'k', 'run')

export const olderRunCases: Cases = {
  'the holder of a slot is older once a newer run waits': async (given) => {
    const { worker, claims, runs } = await oneAfterAnother(given, { slots: 1, runs: 2 })
    await worker.settle([enters(claims[0]!, OF_RUN)])
    expect(await older(given)).toEqual([])

    await worker.settle([enters(claims[1]!, OF_RUN)])

    expect(await older(given)).toEqual([olderRun(runs[0]!, runs[1]!)])
    expect(await older(given, null)).toEqual([olderRun(runs[0]!, runs[1]!)])
    expect(await older(given, 'other')).toEqual([])
    expect(await given.adapter.findOlderRuns({ lines: [{ limit: 'other', key: null }], limit: 9 })).toEqual(
      [],
    )
  },

  'of those that hold and wait, only as many as there are slots are not older': async (given) => {
    const { worker, claims, runs } = await oneAfterAnother(given, { slots: 2, runs: 5 })
    await worker.settle(claims.map((claim) => enters(claim, OF_RUN)))

    const found = runs.slice(0, 3).map((run) => olderRun(run, runs[4]!))

    expect(await older(given)).toEqual(byRun(found))
    expect(await older(given, 'k', 2)).toEqual(byRun(found).slice(0, 2))
  },

  'a run that comes late is older itself, and newer ones are not': async (given) => {
    const { worker, claims, runs } = await oneAfterAnother(given, { slots: 1, runs: 2 })
    await worker.settle([enters(claims[1]!, OF_RUN)])
    await worker.settle([enters(claims[0]!, OF_RUN)])

    expect(await older(given)).toEqual([olderRun(runs[0]!, runs[1]!)])
  },

  'a run that was cancelled keeps its slot until it has ended, and then the newest has it': async (given) => {
    const { worker, claims, runs } = await oneAfterAnother(given, { slots: 1, runs: 3 })
    await worker.settle(claims.map((claim) => enters(claim, OF_RUN)))

    expect(await given.cancel(runs[0]!, runs[1]!)).toHaveLength(2)

    expect(await older(given)).toEqual([])
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1, waiting: 1 }])
    await worker.settle([completed(claims[0]!)])
    await given.undo(runs[0]!, { steps: [] })
    await given.undo(runs[1]!)
    await given.adapter.tendLimits({ after: null, limit: 100 })
    expect(await worker.take()).toMatchObject([{ runId: runs[2]!.id }])
  },

  'a run that is being cancelled is neither newer nor older than others': async (given) => {
    const { worker, claims, runs } = await oneAfterAnother(given, { slots: 1, runs: 2 })
    await worker.settle([enters(claims[1]!, OF_RUN)])
    await given.cancel(runs[1]!)

    await worker.settle([enters(claims[0]!, OF_RUN)])

    expect(await older(given)).toEqual([])
  },

  'a paused run that holds a slot is older, and one that waits is left out until it is resumed': async (
    given,
  ) => {
    const { worker, claims, runs } = await oneAfterAnother(given, { slots: 1, runs: 3 })
    await worker.settle([enters(claims[0]!, OF_RUN), enters(claims[1]!, OF_RUN)])
    await given.operate(runs[0]!).pause()
    expect(await older(given)).toEqual([olderRun(runs[0]!, runs[1]!)])

    await given.operate(runs[1]!).pause()

    expect(await older(given)).toEqual([])
    await worker.settle([enters(claims[2]!, OF_RUN)])
    expect(await older(given)).toEqual([olderRun(runs[0]!, runs[2]!)])
  },

  'a limit that is set to 0 keeps the newest that waits': async (given) => {
    const { worker, claims, runs } = await oneAfterAnother(given, { slots: 1, runs: 2 })
    await given.adapter.setLimit({ name: LIMIT, concurrency: 0 })
    await worker.settle(claims.map((claim) => enters(claim, OF_RUN)))

    expect(await older(given)).toEqual([olderRun(runs[0]!, runs[1]!)])
  },

  'no run is older for a slot that only a step waits for, nor for a rate': async (given) => {
    const { worker, claims } = await oneAfterAnother(given, { slots: 1, runs: 2 })
    await worker.settle([enters(claims[0]!, OF_RUN), enters(claims[1]!, entry(LIMIT, 'k'))])
    expect(await older(given)).toEqual([])

    await given.adapter.setLimit({ name: LIMIT, concurrency: 1, rate: { perMs: 60_000, burst: 1 } })

    expect(await older(given)).toEqual([])
  },

  'looking changes nothing': async (given) => {
    const { worker, claims } = await oneAfterAnother(given, { slots: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, OF_RUN)))
    const before = await given.snapshot()

    expect(await older(given)).toHaveLength(1)

    expect(await given.snapshot()).toEqual(before)
  },
}

/** Runs of which each was created a second after the one before. */
async function oneAfterAnother(
  given: Scenario,
  { slots, runs: count }: { readonly slots: number; readonly runs: number },
): Promise<{ worker: CaseWorker; claims: readonly Claim[]; runs: readonly CaseRun[] }> {
  await given.adapter.declareLimits([{ name: LIMIT, concurrency: slots }])
  const graph = await given.graph('limited', { a: [] })
  const runs: CaseRun[] = []
  for (let nth = 0; nth < count; nth += 1) {
    runs.push(await given.start(graph))
    await given.advance(1_000)
  }
  const worker = await given.worker()
  const claims: Claim[] = []
  for (const run of runs) claims.push(await worker.claimOf(run, 'a'))
  return { worker, claims, runs }
}

function older(given: Scenario, key: string | null = 'k', limit = 100) {
  return given.adapter.findOlderRuns({ lines: [{ limit: LIMIT, key }], limit })
}

function olderRun(run: CaseRun, newer: CaseRun) {
  return { limit: LIMIT, key: 'k', runId: run.id, newerRunId: newer.id }
}

function byRun<Row extends { readonly runId: string }>(rows: readonly Row[]): readonly Row[] {
  return [...rows].sort((one, other) => (one.runId < other.runId ? -1 : 1))
}
