import type { EndedWell, Isolation, StepTransaction, Transacted } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  compensated,
  completed,
  type Graph,
  PAIR,
  type Scenario,
  UNLIMITED,
} from '../scenario/index.ts'

/** Steps that are settled in their handler's transaction. Here, handlers write by starting a run. */
export const transactCases: Cases = {
  'the work and the outcome commit together': async (given) => {
    const { run, worker, wrote, transact } = await started(given)
    const claim = await worker.claimOf(run, 'a')

    const transacted = await transact(claim)

    expect(transacted).toMatchObject({
      type: 'settled',
      settlement: { results: ['settled'], claims: [], runs: [], queued: true },
    })
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '"output"' })
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready' })
    expect(await wrote()).toBe(1)
  },

  'steps that the outcome makes ready are handed back, up to the limit': async (given) => {
    const run = await given.fan(4)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'root')

    const transacted = await given.adapter.transact({
      workerId: worker.id,
      isolation: 'read committed',
      work: async () => ({ outcome: endedWell(claim), handBackMax: 3 }),
    })

    expect(transacted).toMatchObject({ type: 'settled', settlement: { queued: true } })
    const held = await worker.held()
    expect(transacted.type === 'settled' && transacted.settlement.claims).toEqual(held)
    expect(held).toHaveLength(3)
  },

  'the end of the last step ends the run, and the answer reports it': async (given) => {
    const { run, worker, transact } = await started(given)
    await worker.complete(run, 'a')
    const claim = await worker.claimOf(run, 'b')

    const transacted = await transact(claim)

    expect(transacted).toMatchObject({
      settlement: { runs: [{ runId: run.id, status: 'completed' }] },
    })
    expect(await run.status()).toBe('completed')
  },

  'every isolation level works': async (given) => {
    const levels: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable']
    const run = await given.loose(levels.length)
    const worker = await given.worker()
    for (const [index, isolation] of levels.entries()) {
      const claim = await worker.claimOf(run, `s${index}`)
      const work = async () => ({ outcome: endedWell(claim), handBackMax: 0 })
      const transacted = await given.adapter.transact({ workerId: worker.id, isolation, work })
      expect(transacted).toMatchObject({ type: 'settled' })
    }
    expect(await run.status()).toBe('completed')
  },

  'a late success in a stopped run counts, and owes an undo': async (given) => {
    const { run, worker, wrote, transact } = await started(given)
    const claim = await worker.claimOf(run, 'a')
    await given.cancel(run)

    expect(await transact(claim)).toMatchObject({
      type: 'settled',
      settlement: { claims: [], queued: false },
    })

    expect(await run.statuses()).toEqual({ a: 'completed', b: 'cancelled' })
    expect(await wrote()).toBe(1)
    expect(await given.drain()).toMatchObject([{ runId: run.id }])
  },

  'a compensation commits with its own writes': async (given) => {
    const { run, worker, wrote, write } = await started(given)
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    const claim = await worker.claimOf(run, 'a')

    const transacted = await given.adapter.transact({
      workerId: worker.id,
      isolation: 'read committed',
      async work(tx) {
        await write(tx)
        return { outcome: compensated(claim) as EndedWell, handBackMax: UNLIMITED }
      },
    })

    expect(transacted).toMatchObject({ settlement: { runs: [{ runId: run.id, status: 'cancelled' }] } })
    expect(await run.statuses()).toEqual({ a: 'compensated', b: 'cancelled' })
    expect(await wrote()).toBe(1)
  },

  'the work cannot use the transaction once it has been answered': async (given) => {
    const { run, worker, wrote, write } = await started(given)
    const claim = await worker.claimOf(run, 'a')
    let kept: StepTransaction | undefined
    await given.adapter.transact({
      workerId: worker.id,
      isolation: 'read committed',
      async work(tx) {
        kept = tx
        return { outcome: endedWell(claim), handBackMax: 0 }
      },
    })

    await expect(write(kept)).rejects.toThrow()

    expect(await wrote()).toBe(0)
  },

  'recorded answers for one attempt and its worker': async (given) => {
    const { run, worker, transact } = await started(given)
    const other = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    const outcomes = [completed(claim), completed({ ...claim, fence: claim.fence + 1 })]
    const unknown = completed({ ...claim, runId: given.ids.runId() })
    expect(await given.adapter.recorded({ workerId: worker.id, outcomes })).toEqual([false, false])

    await transact(claim)

    const asked = [...outcomes, unknown]
    expect(await given.adapter.recorded({ workerId: worker.id, outcomes: asked })).toEqual([
      true,
      false,
      false,
    ])
    expect(await given.adapter.recorded({ workerId: other.id, outcomes: asked })).toEqual([
      false,
      false,
      false,
    ])
    expect(await given.adapter.recorded({ workerId: worker.id, outcomes: [] })).toEqual([])
  },

  'many concurrent transactions all end': besideTransaction(async (given) => {
    const run = await given.fan(20)
    const worker = await given.worker()
    await worker.complete(run, 'root')
    const claims = await worker.take()

    const ends = await Promise.all(claims.map((claim) => transactWith(given, worker, claim, async () => {})))

    expect(ends.map(({ type }) => type)).toEqual(claims.map(() => 'settled'))
    expect((await run.step('sink')).status).toBe('ready')
  }),
}

/** A run of a → b, and a graph whose runs the handlers start. */
export async function started(given: Scenario) {
  const run = await given.pair()
  const effects = await given.graph('effect', PAIR)
  const worker = await given.worker()
  const write = (tx: unknown) => startEffect(given, effects, tx)
  return {
    run,
    worker,
    write,
    /** The number of effects. */
    wrote: async () => (await given.adapter.listRuns({ workflow: ['effect'], limit: 100 })).length,
    transact: (claim: Parameters<typeof completed>[0], output?: string) =>
      transactWith(given, worker, claim, write, output),
  } satisfies { run: CaseRun; worker: CaseWorker } & Record<string, unknown>
}

export function transactWith(
  given: Scenario,
  worker: CaseWorker,
  claim: Parameters<typeof completed>[0],
  write: (tx: unknown) => Promise<void>,
  output?: string,
): Promise<Transacted> {
  return given.adapter.transact({
    workerId: worker.id,
    isolation: 'read committed',
    async work(tx) {
      await write(tx)
      return { outcome: endedWell(claim, output), handBackMax: 0 }
    },
  })
}

async function startEffect(given: Scenario, graph: Graph, tx: unknown): Promise<void> {
  const runId = given.ids.runId()
  const run = { runId, definitionId: graph.id, workflow: graph.name, key: null, input: null }
  await given.adapter.startRuns([run], { tx })
}

export function endedWell(claim: Parameters<typeof completed>[0], output?: string): EndedWell {
  return completed(claim, output) as EndedWell
}
