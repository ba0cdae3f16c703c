import type { Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Case, Cases } from '../case.ts'
import {
  type CaseWorker,
  compensated,
  completed,
  failed,
  parked,
  relayed,
  released,
  retry,
  type Scenario,
  UNLIMITED,
} from '../scenario/index.ts'

type Zombie = { readonly worker: CaseWorker; readonly outcome: Outcome }
type Arrange = (given: Scenario, late: (claim: Parameters<typeof completed>[0]) => Outcome) => Promise<Zombie>

/** The step is back in the queue; nobody has claimed it yet. */
const sweptForward: Arrange = async (given, late) => {
  const run = await given.diamond()
  const worker = await given.worker()
  const claim = await worker.claimOf(run, 'a')
  await given.expireLeases()
  await given.sweep()
  return { worker, outcome: late(claim) }
}

/** Another worker runs the next attempt. */
const takenOverForward: Arrange = async (given, late) => {
  const zombie = await sweptForward(given, late)
  await (await given.worker()).take()
  return zombie
}

/** Another worker has completed the next attempt. */
const completedByAnother: Arrange = async (given, late) => {
  const zombie = await sweptForward(given, late)
  const other = await given.worker()
  await other.settle((await other.take()).map((claim) => completed(claim)))
  return zombie
}

/** The step's undo is claimable again. */
const sweptUndo: Arrange = async (given, late) => {
  const run = await given.pair()
  const worker = await given.worker()
  await worker.complete(run, 'a')
  await worker.fail(run, 'b')
  await given.undo(run)
  const claim = await worker.claimOf(run, 'a')
  await given.expireLeases()
  await given.sweep()
  return { worker, outcome: late(claim) }
}

const takenOverUndo: Arrange = async (given, late) => {
  const zombie = await sweptUndo(given, late)
  await (await given.worker()).take()
  return zombie
}

const compensatedByAnother: Arrange = async (given, late) => {
  const zombie = await sweptUndo(given, late)
  const other = await given.worker()
  await other.settle((await other.take()).map(compensated))
  return zombie
}

/** Not even a timestamp may change: this compares everything that the port shows. */
function changesNothing(arrange: Arrange, late: Parameters<Arrange>[1], answer?: 'lost'): Case {
  return async (given) => {
    const { worker, outcome } = await arrange(given, late)
    const before = await given.snapshot()
    await given.advance(10)

    const settlement = await worker.settle([outcome], UNLIMITED)

    expect(settlement.claims).toEqual([])
    expect(settlement.runs).toEqual([])
    if (answer !== undefined) expect(settlement.results).toEqual([answer])
    expect(await given.snapshot()).toEqual(before)
  }
}

const later = (claim: Parameters<typeof completed>[0]) => retry(claim, 0)

export const fenceCases: Cases = {
  'a late completion after the lease expired changes nothing': changesNothing(
    sweptForward,
    completed,
    'lost',
  ),
  'a late failure after the lease expired changes nothing': changesNothing(sweptForward, failed, 'lost'),
  // The step is where a retry would put it, so `settled` and `lost` mean the same.
  'a late retry after the lease expired changes nothing': changesNothing(sweptForward, later),
  'a late release after the lease expired changes nothing': changesNothing(sweptForward, released),
  'a completion of an attempt that was taken over changes nothing': changesNothing(
    takenOverForward,
    completed,
    'lost',
  ),
  'a failure of an attempt that was taken over changes nothing': changesNothing(
    takenOverForward,
    failed,
    'lost',
  ),
  'a retry of an attempt that was taken over changes nothing': changesNothing(
    takenOverForward,
    later,
    'lost',
  ),
  'a release of an attempt that was taken over changes nothing': changesNothing(
    takenOverForward,
    released,
    'lost',
  ),
  'a completion after a newer attempt completed changes nothing': changesNothing(
    completedByAnother,
    completed,
    'lost',
  ),
  'a failure after a newer attempt completed changes nothing': changesNothing(
    completedByAnother,
    failed,
    'lost',
  ),

  'a late compensation after the lease expired changes nothing': changesNothing(
    sweptUndo,
    compensated,
    'lost',
  ),
  'a late relay after the lease expired changes nothing': changesNothing(
    sweptUndo,
    (c) => relayed(c),
    'lost',
  ),
  'a late failure of a compensation after the lease expired changes nothing': changesNothing(
    sweptUndo,
    parked,
    'lost',
  ),
  'a late retry of a compensation after the lease expired changes nothing': changesNothing(sweptUndo, later),
  'a compensation of an attempt that was taken over changes nothing': changesNothing(
    takenOverUndo,
    compensated,
    'lost',
  ),
  'a retry of a compensation that was taken over changes nothing': changesNothing(
    takenOverUndo,
    later,
    'lost',
  ),
  'a failure of a compensation after a newer attempt succeeded changes nothing': changesNothing(
    compensatedByAnother,
    parked,
    'lost',
  ),

  'nothing can be settled for a step that another worker holds': async (given) => {
    const run = await given.diamond()
    const [holder, other] = [await given.worker(), await given.worker()]
    const claim = await holder.claimOf(run, 'a')
    const before = await given.snapshot()

    for (const outcome of [completed(claim), failed(claim), later(claim), released(claim)]) {
      expect((await other.settle([outcome], UNLIMITED)).results).toEqual(['lost'])
    }

    expect(await given.snapshot()).toEqual(before)
    expect((await holder.complete(run, 'a')).results).toEqual(['settled'])
  },

  'nothing can be settled for an attempt, a run or a step that does not exist': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    const before = await given.snapshot()

    const { results } = await worker.settle([
      completed({ ...claim, fence: 2 }),
      completed({ ...claim, fence: 0 }),
      completed({ ...claim, step: 99 }),
      completed({ ...claim, runId: given.ids.runId() }),
    ])

    expect(results).toEqual(['lost', 'lost', 'lost', 'lost'])
    expect(await given.snapshot()).toEqual(before)
  },

  'a late completion of a forward attempt changes nothing in an undo': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [zombie] = await worker.claimsOf(run, 's0')
    await given.expireLeases()
    await given.sweep()
    const other = await given.worker()
    await other.complete(run, 's0')
    await other.fail(run, 's1')
    await given.undo(run)
    const before = await given.snapshot()

    const { results } = await worker.settle([completed(zombie!)], UNLIMITED)

    expect(results).toEqual(['lost'])
    expect(await given.snapshot()).toEqual(before)
  },

  'a forward attempt cannot be settled as an undo, nor an undo as a forward attempt': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const forward = await worker.claimOf(run, 'a')
    const misdirected = { ...forward, direction: 'undo' as const }

    const { results } = await worker.settle([compensated(misdirected)])

    expect(results).toEqual(['lost'])
    expect(await run.statuses()).toEqual({ a: 'running', b: 'pending' })
  },

  'a dead worker that settles a step not yet requeued gets no steps back': async (given) => {
    const graph = await given.graph('pair', { a: [], b: ['a'] })
    const runs = await Promise.all(Array.from({ length: 5 }, () => given.start(graph)))
    const zombie = await given.worker()
    const claims = await zombie.take()
    await given.expireLeases()
    await given.adapter.sweep({ limit: 1 })

    const { claims: handedBack } = await zombie.settle(
      claims.map((claim) => completed(claim)),
      UNLIMITED,
    )

    expect(handedBack).toEqual([])
    await given.sweep()
    const heir = await given.worker()
    await finish(heir)
    expect(await Promise.all(runs.map((run) => run.status()))).toEqual(runs.map(() => 'completed'))
  },
}

async function finish(worker: CaseWorker): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) {
    await worker.settle((await worker.take()).map((claim) => completed(claim)))
  }
}
