import {
  type Claim,
  type DrainedRun,
  edgesOf,
  type Outcome,
  placeRows,
  type UndoPlan,
} from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { type CaseRun, compensated, completed, failed, relayed, retry } from '../scenario/index.ts'
import { AFTER, expand, expanded, item, JOIN, MAP, mapped, statusesOf } from './mapped-run.ts'

export const mapCases: Cases = {
  'a map adds a ready row for each item, with its key and value, and its join waits for them all': async (
    given,
  ) => {
    const { run, worker } = await mapped(given)
    const settlement = await expand(worker, run, 3)

    expect(settlement).toMatchObject({ results: ['settled'], claims: [], queued: true })
    const { steps } = await run.read()
    expect(steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'before completed',
      'm[] completed',
      'm pending',
      'after pending',
      'm[k0] ready',
      'm[k1] ready',
      'm[k2] ready',
    ])
    expect(steps.map(({ itemKey }) => itemKey)).toEqual([...Array(4).fill(undefined), 'k0', 'k1', 'k2'])
    expect(steps[JOIN]).toMatchObject({ openDependencies: 3 })
    expect(steps[MAP]).toMatchObject({ output: '3' })
    const [loaded] = await given.adapter.load([{ runId: run.id, steps: [item(1), JOIN] }])
    expect(loaded!.steps.map((step) => step.item)).toEqual([{ key: 'k1', value: '{"n":1}' }, undefined])
  },

  'the join becomes ready when the last item has completed, and its dependents when it has': async (
    given,
  ) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 3)
    const items = await worker.take()
    expect(items.map(({ step }) => step)).toEqual([item(0), item(1), item(2)])
    await worker.settle([completed(items[2]!, '"c"'), completed(items[0]!, '"a"')])
    expect(await run.step('m')).toMatchObject({ status: 'pending', openDependencies: 1 })
    const last = await worker.settle([completed(items[1]!, '"b"')], 10)

    expect(last.claims).toMatchObject([{ step: JOIN, attempt: 1 }])
    const [loaded] = await given.adapter.load([{ runId: run.id, steps: [item(0), item(1), item(2)] }])
    expect(loaded!.steps.map(({ output }) => output)).toEqual(['"a"', '"b"', '"c"'])
    await worker.settle([completed(last.claims[0]!, '[]')])
    await worker.complete(run, 'after')
    expect(await run.status()).toBe('completed')
  },

  'a map without items lets its join begin at once': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 0)
    expect(await run.step('m')).toMatchObject({ status: 'ready', openDependencies: 0 })
    expect(await worker.take()).toMatchObject([{ step: JOIN }])
  },

  'with a limit the first items are ready, and each that completes makes the next one ready': async (
    given,
  ) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 5, 2)
    const first = await worker.take()
    expect(first.map(({ step }) => step)).toEqual([item(0), item(1)])
    expect(await worker.settle([completed(first[1]!)])).toMatchObject({ queued: true })
    const [third] = await worker.take()
    expect(third).toMatchObject({ step: item(2) })
    await worker.settle([retry(third!, 1_000)])
    expect(await worker.take()).toEqual([])
    await worker.settle([completed(first[0]!)])
    const [fourth] = await worker.take()
    expect(fourth).toMatchObject({ step: item(3) })
    await given.advance(1_000)
    const [again] = await worker.take()
    await worker.settle([completed(again!), completed(fourth!)])
    expect((await worker.take()).map(({ step }) => step)).toEqual([item(4)])
  },

  'two workers that complete items at once free one item each': withSecond(async (given, second) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 40, 10)
    const other = await given.worker(second)
    const [own, others] = [await worker.take(5), await other.take(5)]
    await Promise.all([
      ...own.map((claim) => worker.settle([completed(claim)])),
      ...others.map((claim) => other.settle([completed(claim)])),
    ])
    expect(statusesOf(await run.read())).toEqual({ completed: 10, ready: 10, pending: 20 })
  }),

  'an expansion whose answer was lost is recognised, and adds nothing again': async (given) => {
    const { run, worker } = await mapped(given)
    const claim = await worker.claimOf(run, 'm[]')
    const outcome = expanded(claim, 2)
    await worker.settle([outcome])
    const before = await given.snapshot()
    expect(await worker.settle([outcome])).toMatchObject({ results: ['settled'] })
    expect(await given.snapshot()).toEqual(before)
  },

  'a worker that no longer holds the map adds nothing': async (given) => {
    const { run, worker } = await mapped(given)
    const claim = await worker.claimOf(run, 'm[]')
    await given.expireLeases()
    await given.sweep()
    expect(await worker.settle([expanded(claim, 2)])).toMatchObject({ results: ['lost'] })
    expect((await run.read()).steps).toHaveLength(4)
  },

  'a map that decides its items after its run was stopped adds none, and decides them anew once that is retried':
    async (given) => {
      const { run, worker } = await mapped(given)
      const claim = await worker.claimOf(run, 'm[]')
      await given.cancel(run)
      expect(await worker.settle([expanded(claim, 2)])).toMatchObject({ results: ['settled'] })
      expect(await run.statuses()).toMatchObject({ 'm[]': 'completed', m: 'cancelled' })
      expect((await run.read()).steps).toHaveLength(4)
      await given.undo(run, { steps: [] })
      await given.operate(run).retry()
      expect(await run.statuses()).toMatchObject({ before: 'completed', 'm[]': 'ready', m: 'pending' })
    },

  'no item begins in a paused run, whether it was added before the pause or during it': async (given) => {
    const { run, worker } = await mapped(given)
    const claim = await worker.claimOf(run, 'm[]')
    await given.operate(run).pause()
    await worker.settle([expanded(claim, 3, 2)])
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    const [first] = await worker.take(1)
    await given.operate(run).pause()
    await worker.settle([completed(first!)])
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    expect((await worker.take()).map(({ step }) => step)).toEqual([item(1), item(2)])
  },

  'an item that fails stops the run, and cancels the items that have not begun': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 4, 2)
    const [one, two] = await worker.take()
    await worker.settle([failed(one!)])
    expect(await run.status()).toBe('compensating')
    expect(await given.drain()).toEqual([])
    await worker.settle([completed(two!)])
    expect(statusesOf(await run.read())).toEqual({ failed: 1, completed: 1, cancelled: 2 })
    expect(await run.step('m')).toMatchObject({ status: 'cancelled' })
  },

  'the undo goes from the dependents over the join to the items, and from them to what the map depends on':
    async (given) => {
      const { run, worker } = await mapped(given)
      await expand(worker, run, 2)
      await worker.settle((await worker.take()).map((claim) => completed(claim)))
      await worker.complete(run, 'm')
      await worker.fail(run, 'after')
      const [drained] = await given.drain()
      await given.adapter.beginUndo([planAll(run, drained!)])

      const [join] = await worker.take()
      expect(join).toMatchObject({ step: JOIN, direction: 'undo' })
      await worker.settle([joined(join!)])
      const items = await worker.take()
      expect(items.map(({ step }) => step)).toEqual([item(0), item(1)])
      await worker.settle([compensated(items[0]!)])
      expect(await worker.take()).toEqual([])
      await worker.settle([compensated(items[1]!)])
      const [map] = await worker.take()
      expect(map).toMatchObject({ step: MAP, direction: 'undo' })
      await worker.settle([relayed(map!)])
      await worker.compensate(run, 'before')
      expect(await run.status()).toBe('compensated')
    },

  'of the items that are to be undone, some of the last ones are read': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 4)
    await worker.settle((await worker.take()).map((claim) => completed(claim)))
    await worker.complete(run, 'm')
    await worker.fail(run, 'after')
    const [drained] = await given.drain()
    await given.adapter.beginUndo([planAll(run, drained!)])

    const read = await given.adapter.readRun(run.id, { eachStatusMax: 2 })
    expect(read!.steps.slice(AFTER + 1).map(({ step }) => step)).toEqual([item(2), item(3)])
    expect(read!.itemCounts).toMatchObject([{ map: MAP, status: 'compensating', count: 4 }])
  },

  'items are found by held, and returned by a sweep, with their names': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 2)
    await worker.take()
    expect((await worker.held()).map(({ step }) => step).sort()).toEqual([item(0), item(1)])
    const listed = await given.adapter.listHeld({ workerId: worker.id, limit: 10 })
    expect(listed.map(({ name }) => name)).toEqual(['m[k0]', 'm[k1]'])
    await given.expireLeases()
    const { recovered } = await given.adapter.sweep({ limit: 100 })
    expect(recovered.map(({ itemKey }) => itemKey).sort()).toEqual(['k0', 'k1'])
    expect((await run.read()).steps.slice(4)).toMatchObject([{ losses: 1 }, { losses: 1 }])
  },

  'a run with items is pruned with all of them': async (given) => {
    const { run, worker } = await mapped(given)
    await expand(worker, run, 3)
    await worker.settle((await worker.take()).map((claim) => completed(claim)))
    await worker.complete(run, 'm')
    await worker.complete(run, 'after')
    await given.advance(10)
    const now = await given.adapter.now()
    expect(await given.adapter.prune({ runIds: [run.id], finishedBefore: now })).toEqual([run.id])
    expect(await given.adapter.readRun(run.id)).toBeNull()
  },
}

function joined(claim: Claim): Outcome {
  return { ...relayed(claim), joins: true } as Outcome
}

/** Undoes every row that completed, each after what depends on it. */
function planAll(run: CaseRun, drained: DrainedRun): UndoPlan {
  const { shape, numbers } = placeRows(run.graph.saved.shape, drained.steps)!
  const { dependents } = edgesOf(shape)
  const statuses = new Map(drained.steps.map(({ step, status }) => [step, status]))
  const isUndone = (place: number) => statuses.get(numbers[place]!) === 'completed'
  const undos = numbers.flatMap((step, place) =>
    isUndone(place) ? [{ step, openDependents: dependents[place]!.filter(isUndone).length }] : [],
  )
  return { runId: drained.runId, endsAs: 'compensated', undos }
}
