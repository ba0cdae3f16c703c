import type { Claim, Outcome } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  completed,
  failed,
  released,
  repeated,
  type Scenario,
  waiting,
} from '../scenario/index.ts'
import { single } from './ended-runs.ts'
import { looped, planAll, round } from './loops.ts'

const JOIN = 2

export const childRoundCases: Cases = {
  'a round waits for its child without a worker, and the round after it begins like any other': async (
    given,
  ) => {
    const { run, worker, child } = await waitingRound(given)
    expect((await run.read()).steps.at(-1)).toMatchObject({ name: 'l[1]', status: 'waiting', workerId: null })

    expect(await wake(given, child)).toMatchObject([{ result: 'woken' }])
    const woken = await claimOf(run, worker, 1)
    const { claims } = await worker.settle([repeated(woken, '{"page":1}')], 5)

    expect(woken).toMatchObject({ step: round(1), fence: 2, attempt: 1 })
    expect(claims).toMatchObject([{ step: round(2), fence: 3, attempt: 1, failures: 0, losses: 0 }])
    const { steps } = await run.read()
    expect(steps.at(-2)).toMatchObject({ name: 'l[1]', status: 'completed', output: '{"page":1}' })
    expect(steps.at(-1)).toMatchObject({ name: 'l[2]', status: 'running', waitingSince: null })
    expect(await wake(given, child)).toEqual([{ result: 'over' }])
  },

  'each round is woken by its own child, and the last one by its completion ends the loop': async (given) => {
    const { run, worker, child } = await waitingRound(given)
    await wake(given, child)
    const [second] = (await worker.settle([repeated(await claimOf(run, worker, 1), '1')], 5)).claims
    const next = await childOf(given, run, 2)
    await worker.settle([waiting(second!, null)])

    expect(await wake(given, child, next)).toMatchObject([{ result: 'over' }, { result: 'woken' }])
    const { claims } = await worker.settle([completed(await claimOf(run, worker, 2), '2')], 5)

    expect(claims).toMatchObject([{ step: JOIN, direction: 'forward' }])
  },

  'a round of a paused run is woken, and claimed once the run is resumed': async (given) => {
    const { run, worker, child } = await waitingRound(given)
    await given.operate(run).pause()

    expect(await wake(given, child)).toMatchObject([{ result: 'woken' }])

    expect((await worker.take()).filter(({ runId }) => runId === run.id)).toEqual([])
    await given.operate(run).resume()
    const claims = (await worker.take()).filter(({ runId }) => runId === run.id)
    expect(claims).toMatchObject([{ step: round(1) }])
  },

  'a round that waits is cancelled with its run, and its child wakes nobody': async (given) => {
    const { run, child } = await waitingRound(given)
    await given.cancel(run)
    await given.drain()

    expect(await wake(given, child)).toEqual([{ result: 'over' }])

    expect(await run.statuses()).toMatchObject({ l: 'cancelled', 'l[1]': 'cancelled' })
  },

  'the undo of a round that waits for its child is claimable once it is woken, before that of the round before it':
    async (given) => {
      const { run, worker, child } = await waitingRound(given)
      await wake(given, child)
      const [second] = (await worker.settle([repeated(await claimOf(run, worker, 1), '1')], 5)).claims
      const next = await childOf(given, run, 2)
      const [join] = (await worker.settle([completed(second!, '2')], 5)).claims
      await worker.settle([completed(join!, '2')])
      await worker.settle([failed(await worker.claimOf(run, 'after'))])
      const [drained] = await given.drain({ runs: [run] })
      const { undos, ...plan } = planAll(run, drained!)
      // The join has nothing to undo, and the last round is the first to be undone.
      const ofRounds = undos.filter(({ step }) => step === round(1) || step === round(2))
      const ordered = ofRounds.map((undo) => ({ ...undo, openDependents: undo.step === round(2) ? 0 : 1 }))
      await given.adapter.beginUndo([{ ...plan, undos: ordered }])
      const undone = await claimOf(run, worker, 2)
      await worker.settle([{ ...released(undone), begun: false, delayMs: 60_000 } as Outcome])

      expect(await wake(given, child, next)).toMatchObject([{ result: 'woken' }, { result: 'woken' }])

      const claims = (await worker.take()).filter(({ runId }) => runId === run.id)
      expect(claims).toMatchObject([{ step: round(2), direction: 'undo' }])
    },
}

/** A run whose first round waits for a child. */
async function waitingRound(given: Scenario): Promise<{
  readonly run: CaseRun
  readonly worker: CaseWorker
  readonly child: CaseRun
}> {
  const { run, worker, first } = await looped(given)
  const child = await childOf(given, run, 1)
  await worker.settle([waiting(first, null)])
  return { run, worker, child }
}

async function childOf(given: Scenario, run: CaseRun, number: number): Promise<CaseRun> {
  return given.start(await single(given), { parent: { runId: run.id, step: round(number) } })
}

async function claimOf(run: CaseRun, worker: CaseWorker, number: number): Promise<Claim> {
  const claims = await worker.take()
  return claims.find(({ runId, step }) => runId === run.id && step === round(number))!
}

const wake = (given: Scenario, ...children: readonly CaseRun[]) =>
  given.adapter.wakeParents(children.map(({ id }) => id))
