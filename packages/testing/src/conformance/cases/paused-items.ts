import { type Claim, itemIndex } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  type CaseRun,
  completed,
  failed,
  released,
  retry,
  type Scenario,
  waiting,
} from '../scenario/index.ts'
import { expand, mapped } from './mapped-run.ts'

/** Items of maps in paused runs: a pause and a resumption leave their rows alone. */
export const pausedItemCases: Cases = {
  'items that come back from their worker during a pause begin after the resumption, each when it may':
    async (given) => {
      const { run, worker } = await mapped(given)
      await expand(worker, run, 4)
      const [first, second] = await worker.take(2)
      await given.operate(run).pause()
      await worker.settle([released(first!), retry(second!, 60_000)])
      expect(await worker.take()).toEqual([])
      await given.operate(run).resume()
      expect(indexesOf(await worker.take())).toEqual([0, 2, 3])
      await given.advance(60_000)
      expect(indexesOf(await worker.take())).toEqual([1])
      expect(await worker.take()).toEqual([])
    },

  'many items that wait until a time which comes during a pause are claimed after the resumption': async (
    given,
  ) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 40)
    const claims = await worker.take(40)
    await worker.settle(claims.map((claim) => waiting(claim, { afterMs: 60_000 })))
    await given.operate(run).pause()
    await given.advance(60_000)
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    expect(indexesOf(await worker.take(40))).toEqual(indexesOf(claims))
  },

  'of many items, those that have not ended are claimed once after the resumption, whichever lie between':
    async (given) => {
      const { run, worker } = await mapped(given)
      await expand(worker, run, 150)
      const claims = await worker.take(150)
      await worker.settle(claims.map((claim) => (isKept(claim) ? completed(claim) : released(claim))))
      await given.operate(run).pause()
      await given.operate(run).resume()
      await given.operate(run).pause()
      expect(await worker.take(150)).toEqual([])
      await given.operate(run).resume()

      const again = [...(await worker.take(60)), ...(await worker.take(150))]
      expect(indexesOf(again)).toEqual(indexesOf(claims.filter((claim) => !isKept(claim))))
      await worker.settle(again.map((claim) => completed(claim)))
      await worker.complete(run, 'm')
      await worker.complete(run, 'after')
      expect(await run.status()).toBe('completed')
    },

  'an item that ends during a pause frees the turn of one other, which begins after the resumption': async (
    given,
  ) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 5, 2)
    const [first, second] = await worker.take()
    await given.operate(run).pause()
    expect(await worker.settle([completed(first!)], 10)).toMatchObject({ claims: [], queued: false })
    await given.operate(run).resume()
    expect(indexesOf(await worker.take())).toEqual([2])
    expect(indexesOf((await worker.settle([completed(second!)], 10)).claims)).toEqual([3])
  },

  'a change that leaves items is decided without them, unless the run is being undone': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 3)
    await worker.settle((await worker.take()).map((claim) => completed(claim)))
    expect(await rowsSeen(given, run)).toBe(4)
    await worker.complete(run, 'm')
    await worker.settle([failed(await worker.claimOf(run, 'after'))])
    expect(await rowsSeen(given, run)).toBe(4)
    await given.undo(run, { steps: ['before'] })
    expect(await rowsSeen(given, run)).toBe(7)
  },
}

/** Whether the item ends before the pause. */
function isKept({ step }: Claim): boolean {
  return itemIndex(step) % 7 === 3 || itemIndex(step) % 2 === 0
}

function indexesOf(claims: readonly Claim[]): readonly number[] {
  return claims.map(({ step }) => itemIndex(step)).sort((one, other) => one - other)
}

async function rowsSeen({ adapter }: Scenario, { id: runId }: CaseRun): Promise<number | undefined> {
  const seen = await adapter.changeRun({
    runId,
    leavesItems: true,
    decide: ({ steps }) => ({ change: null, answer: { rows: steps.length } }),
  })
  return seen?.rows
}
