import { type Claim, isItem, itemIndex, type Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  compensated,
  completed,
  continued,
  failed,
  retry,
  type Scenario,
} from '../scenario/index.ts'

/**
 * The limit of a map holds exactly, also after operators' actions that leave ended items between those that wait for their turn. Every case ends with
 * the invariants, which allow no item too many under way, and none too few while others wait.
 */
export const mapLimitCases: Cases = {
  'a retried run begins as many items as its map allows, whichever it keeps, and each that ends begins the next':
    async (given) => {
      const { run, worker } = await endedRun(given, { items: 9, failing: [0, 2, 3, 6, 8] })
      await given.operate(run).retry()
      const [a, b] = await worker.take()
      expect([a!, b!].map(indexOf)).toEqual([0, 2])
      expect(await waiting(run)).toEqual([3, 6, 8])

      await worker.settle([completed(a!)])
      const [c] = await worker.take()
      expect(indexOf(c!)).toBe(3)
      const { claims } = await worker.settle([completed(b!), continued(c!)], 1)
      expect(claims.map(indexOf)).toEqual([6])
      const [last] = await worker.take()
      expect(indexOf(last!)).toBe(8)
      const joins = (await worker.settle([completed(last!), completed(claims[0]!)], 5)).claims
      expect(joins).toMatchObject([{ step: JOIN }])
    },

  'a run that is retried twice keeps the limit of its map': async (given) => {
    const { run, worker } = await endedRun(given, { items: 8, failing: [1, 3, 4, 6, 7] })
    await given.operate(run).retry()
    // The items at 3, 6 and 7 fail again.
    await workOff(given, { run, worker, failing: [3, 6, 7] })
    await given.operate(run).retry()
    expect((await worker.take()).map(indexOf)).toEqual([3, 6])
    expect(await waiting(run)).toEqual([7])
  },

  'items that two workers complete at once after a retry begin one other each': withSecond(
    async (given, second) => {
      const failing = Array.from({ length: 20 }, (_, n) => 2 * n)
      const { run, worker } = await endedRun(given, { items: 40, atOnce: 10, failing })
      await given.operate(run).retry()
      const other = await given.worker(second)
      const [own, others] = [await worker.take(5), await other.take(5)]
      await Promise.all([
        ...own.map((claim) => worker.settle([completed(claim)])),
        ...others.map((claim) => other.settle([completed(claim)])),
      ])
      expect(await waiting(run)).toEqual([])
      expect((await worker.take()).map(indexOf)).toEqual(failing.slice(10))
    },
  ),

  'items that a retry of a run keeps in flight keep their turns': async (given) => {
    const { run, worker, inFlight } = await parkedRun(given)
    // The item at 0 failed after the pivot, that at 2 is in flight, and that at 4 waits for its next try.
    await given.operate(run).retry()
    expect(await underWay(run)).toEqual({ 0: 'ready', 2: 'running', 4: 'ready' })
    await worker.settle([completed(inFlight)])
    expect(await underWay(run)).toEqual({ 0: 'ready', 4: 'ready', 5: 'ready' })
    await given.operate(run).retryStep('m[4]')
    expect(await underWay(run)).toEqual({ 0: 'ready', 4: 'ready', 5: 'ready' })
  },

  'skipping an item lets exactly one other begin, also in a paused run once that is resumed': async (
    given,
  ) => {
    const { run, worker, inFlight } = await parkedRun(given)
    await given.operate(run).skipStep('m[0]')
    expect(await underWay(run)).toEqual({ 2: 'running', 4: 'ready', 5: 'ready' })
    await given.operate(run).pause()
    await given.operate(run).skipStep('m[4]')
    await worker.settle([completed(inFlight)])
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    expect(await underWay(run)).toEqual({ 5: 'ready', 6: 'ready', 7: 'ready' })
    expect((await worker.take()).map(indexOf)).toEqual([5, 6, 7])
  },

  'a pause in a retried run, and what ends during it, keep the limit': async (given) => {
    const { run, worker } = await endedRun(given, { items: 9, failing: [0, 2, 3, 6, 8] })
    await given.operate(run).retry()
    const claims = await worker.take()
    await given.operate(run).pause()
    await worker.settle([completed(claims[1]!)])
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    expect((await worker.take()).map(indexOf)).toEqual([3])
    await worker.settle([completed(claims[0]!)])
    expect((await worker.take()).map(indexOf)).toEqual([6])
    expect(await waiting(run)).toEqual([8])
  },

  'a paused run whose map failed keeps the limit when it is retried and then resumed': async (given) => {
    const { run, worker } = await endedRun(given, { items: 6, failing: [0, 2, 3, 5], pivot: true })
    expect(await run.status()).toBe('parked')
    await given.operate(run).pause()
    await given.operate(run).retry()
    await given.operate(run).resume()
    expect((await worker.take()).map(indexOf)).toEqual([0, 2])
    expect(await waiting(run)).toEqual([3, 5])
  },

  'a map that decides its items anew begins them in their order again': async (given) => {
    const { run, worker } = await endedRun(given, { items: 6, failing: [0, 3, 5], undoes: ['before'] })
    await given.operate(run).retry()
    await worker.complete(run, 'before')
    await worker.settle([{ ...(await worker.claimOf(run, 'm[]')), ...expansion(4, 2) } as Outcome])
    const [a] = await worker.take()
    await worker.settle([completed(a!)])
    expect((await worker.take()).map(indexOf)).toEqual([2])
    expect((await run.step('m')).turns).toEqual({ atOnce: 2, nextItem: 3, order: null })
  },
}

const JOIN = 2

interface Made {
  readonly items: number
  readonly atOnce?: number
  /** Indexes of the items that fail for good. The map collects them, and then fails too. */
  readonly failing: readonly number[]
  /** Then the run does not end, but is parked. */
  readonly pivot?: boolean
  /** Steps that are undone. */
  readonly undoes?: readonly string[]
}

/** A run whose map failed because too few of its items completed. */
async function endedRun(given: Scenario, made: Made): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const { items, atOnce = 2, failing, pivot = false } = made
  const edges = { before: [], 'm[]': ['before'], m: ['m[]'] }
  const facts = { before: { pivot }, 'm[]': { onFailure: 'continue' } } as const
  const graph = await given.graph('collecting', edges, 1, { 'm[]': 'map', m: 'join' }, facts)
  const [run, worker] = [await given.start(graph), await given.worker()]
  await worker.complete(run, 'before')
  await worker.settle([{ ...(await worker.claimOf(run, 'm[]')), ...expansion(items, atOnce) } as Outcome])
  await workOff(given, { run, worker, failing, pivot, undoes: made.undoes ?? [] })
  return { run, worker }
}

/** Ends all items, and then the map with a failure. */
async function workOff(
  given: Scenario,
  work: {
    readonly run: CaseRun
    readonly worker: CaseWorker
    readonly failing: readonly number[]
    readonly pivot?: boolean
    readonly undoes?: readonly string[]
  },
): Promise<void> {
  const { run, worker, failing, pivot = false, undoes = [] } = work
  for (;;) {
    const claims = await worker.take()
    const [first] = claims
    if (first === undefined)
      throw new Error(`Nothing is left to do in run ${run.id}, and its map has not ended.`)
    if (isItem(first.step)) {
      await worker.settle(
        claims.map((claim) => (failing.includes(indexOf(claim)) ? continued(claim) : completed(claim))),
      )
      continue
    }
    await worker.settle([pivot ? ({ ...failed(first), pivots: [0] } as Outcome) : failed(first)])
    if (!pivot) await given.undo(run, { steps: undoes })
    for (const claim of undoes.length > 0 ? await worker.take() : [])
      await worker.settle([compensated(claim)])
    return
  }
}

/**
 * A run past its pivot whose map of nine items may have three under way: the item at 0 has failed, those at 1 and 3 completed, that at 2 is in flight,
 * and that at 4 waits for its next try.
 */
async function parkedRun(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker; inFlight: Claim }> {
  const edges = { before: [], 'm[]': ['before'], m: ['m[]'] }
  const facts = { before: { pivot: true } }
  const graph = await given.graph('parking', edges, 1, { 'm[]': 'map', m: 'join' }, facts)
  const [run, worker] = [await given.start(graph), await given.worker()]
  await worker.complete(run, 'before')
  await worker.settle([{ ...(await worker.claimOf(run, 'm[]')), ...expansion(9, 3) } as Outcome])
  const [a, b, c] = await worker.take()
  await worker.settle([{ ...failed(a!), pivots: [0] } as Outcome])
  await worker.settle([completed(b!)])
  const [d] = await worker.take()
  await worker.settle([completed(d!)])
  const [e] = await worker.take()
  await worker.settle([retry(e!, 60_000)])
  expect(await run.status()).toBe('parked')
  return { run, worker, inFlight: c! }
}

function expansion(items: number, atOnce: number) {
  const keys = Array.from({ length: items }, (_, n) => ({ key: String(n), value: null }))
  return { type: 'expanded' as const, items: keys, atOnce }
}

function indexOf({ step }: Pick<Claim, 'step'>): number {
  return itemIndex(step)
}

/** The indexes of the items that wait for their turn. */
async function waiting(run: CaseRun): Promise<readonly number[]> {
  const { steps } = await run.read()
  return steps.filter(({ step, status }) => isItem(step) && status === 'pending').map(indexOf)
}

/** The items that hold a turn, by index, with their statuses. */
async function underWay(run: CaseRun): Promise<Readonly<Record<number, string>>> {
  const { steps } = await run.read()
  const begun = steps.filter(({ step, status }) => isItem(step) && UNDER_WAY.has(status))
  return Object.fromEntries(begun.map((step) => [indexOf(step), step.status]))
}

const UNDER_WAY: ReadonlySet<string> = new Set(['ready', 'running', 'waiting', 'failed'])
