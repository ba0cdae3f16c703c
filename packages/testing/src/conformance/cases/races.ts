import type { Adapter } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import {
  type CaseRun,
  type CaseWorker,
  completed,
  type Graph,
  LEASE_MS,
  type Scenario,
} from '../scenario/index.ts'

const ROUNDS = 12

// In each race, both orders of commit are allowed. The rows must agree with one of them.
export const raceCases: Cases = {
  'two parents settled at the same moment make their dependent ready once': withSecond(
    async (given, second) => {
      const graph = await given.graph('join', { a: [], b: [], c: ['a', 'b'] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const { run, mine, theirs, one, two } = await split(given, second, graph)

        const settled = await Promise.all([
          one.settle([completed(await one.claimOf(run, mine))], round % 3),
          two.settle([completed(await two.claimOf(run, theirs))], round % 2),
        ])

        const handedBack = settled.flatMap(({ claims }) => claims)
        const claimed = await one.take()
        expect([...handedBack, ...claimed]).toMatchObject([{ runId: run.id, step: 2, fence: 1 }])
        expect((await run.step('c')).openDependencies).toBe(0)
      }
    },
  ),

  'two last sinks settled at the same moment complete the run once': withSecond(async (given, second) => {
    const graph = await given.graph('ends', { a: [], b: [] })
    for (let round = 0; round < ROUNDS; round += 1) {
      const { run, mine, theirs, one, two } = await split(given, second, graph)

      const settled = await Promise.all([one.complete(run, mine), two.complete(run, theirs)])

      expect(settled.flatMap(({ runs }) => runs)).toMatchObject([{ runId: run.id, status: 'completed' }])
      expect(await run.status()).toBe('completed')
    }
  }),

  'a completion and the failure of its sibling at the same moment leave nothing to run': withSecond(
    async (given, second) => {
      const graph = await given.graph('siblings', { a: [], b: [], c: ['a'], d: ['b'] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const { run, mine, theirs, one, two } = await split(given, second, graph)

        const [, failure] = await Promise.all([one.complete(run, mine), two.fail(run, theirs)])

        expect(failure.runs).toMatchObject([{ runId: run.id, status: 'compensating' }])
        expect(await one.take()).toEqual([])
        expect(await run.statuses()).toEqual({
          [mine]: 'completed',
          [theirs]: 'failed',
          c: 'cancelled',
          d: 'cancelled',
        })
        expect(await given.drain({ runs: [run] })).toHaveLength(1)
      }
    },
  ),

  'a hand-back and a cancellation at the same moment never leave an unknown leased step': withSecond(
    async (given, second) => {
      const graph = await given.graph('chain', { a: [], b: ['a'] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = await given.start(graph)
        const worker = await given.worker(second)
        const claim = await worker.claimOf(run, 'a')

        const [settlement, stopped] = await Promise.all([
          worker.settle([completed(claim)], 5),
          given.cancel(run),
        ])

        expect(stopped).toEqual([run.id])
        const inFlight = settlement.claims.length === 1
        expect(await run.statuses()).toEqual({ a: 'completed', b: inFlight ? 'running' : 'cancelled' })
        expect(await worker.held()).toHaveLength(inFlight ? 1 : 0)
        if (inFlight) await worker.complete(run, 'b')
        expect(await given.drain({ runs: [run] })).toHaveLength(1)
      }
    },
  ),

  'a claim and a cancellation at the same moment never leave an unknown leased step': withSecond(
    async (given, second) => {
      const graph = await given.graph('single', { a: [] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = await given.start(graph)
        const worker = await given.worker(second)

        const [claims] = await Promise.all([worker.take(), given.cancel(run)])

        expect(await run.statuses()).toEqual({ a: claims.length === 1 ? 'running' : 'cancelled' })
        if (claims.length === 1) await worker.complete(run, 'a')
        expect(await given.drain({ runs: [run] })).toHaveLength(1)
      }
    },
  ),

  'a settlement and a sweep at the same moment agree on who holds the step': withSecond(
    async (given, second) => {
      const graph = await given.graph('pair', { a: [], b: ['a'] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = await given.start(graph)
        const worker = await given.worker(second)
        const claim = await worker.claimOf(run, 'a')
        await given.expireLeases()

        const [settlement] = await Promise.all([worker.settle([completed(claim)], 5), given.sweep()])
        await given.sweep()

        const settled = settlement.results[0] === 'settled'
        expect(await run.step('a')).toMatchObject(
          settled ? { status: 'completed', losses: 0 } : { status: 'ready', losses: 1 },
        )
        // If b was handed back before the worker was declared dead, it is lost with it; else it waits to be claimed.
        expect((await run.step('b')).status).toBe(settled ? 'ready' : 'pending')
        const heir = await given.worker()
        expect(await heir.take()).toHaveLength(1)
        await finish(heir, run, settled ? ['b'] : ['a', 'b'])
      }
    },
  ),

  'a renewal and a sweep at the same moment agree on whether the worker lives': withSecond(
    async (given, second) => {
      const graph = await given.graph('single', { a: [] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = await given.start(graph)
        const worker = await given.worker(second)
        await worker.take()
        await given.expireLeases()

        const [renewal] = await Promise.all([
          second.renew({ workerId: worker.id, leaseMs: LEASE_MS }),
          given.sweep(),
        ])
        await given.sweep()

        expect((await run.step('a')).status).toBe(renewal !== 'lost' ? 'running' : 'ready')
        await finish(renewal !== 'lost' ? worker : await given.worker(), run, ['a'])
      }
    },
  ),

  'one outcome settled over two connections at the same moment counts once': withSecond(
    async (given, second) => {
      const graph = await given.graph('join', { a: [], b: [], c: ['a', 'b'] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = await given.start(graph)
        const worker = await given.worker()
        const [claim] = await worker.claimsOf(run, 'a', 'b')
        const settlement = { workerId: worker.id, outcomes: [completed(claim!)], handBackMax: 0 }

        const answers = await Promise.all([given.adapter.settle(settlement), second.settle(settlement)])

        expect(answers.map(({ results }) => results)).toEqual([['settled'], ['settled']])
        expect(await run.step('c')).toMatchObject({ status: 'pending', openDependencies: 1 })
      }
    },
  ),

  'wide batches that share their dependents settle at the same moment without deadlock': withSecond(
    async (given, second) => {
      const run = await given.fan(120)
      const [one, two] = [await given.worker(), await given.worker(second)]
      await one.complete(run, 'root')
      const [mine, theirs] = [await one.take(60), await two.take(60)]

      const settled = await Promise.all([
        ...batches(mine, 15).map((batch) => one.settle(batch.map((claim) => completed(claim)))),
        ...batches([...theirs].reverse(), 15).map((batch) =>
          two.settle(batch.map((claim) => completed(claim))),
        ),
      ])

      expect(settled.flatMap(({ results }) => results)).toEqual(Array(120).fill('settled'))
      expect(await run.step('sink')).toMatchObject({ status: 'ready', openDependencies: 0 })
      expect(await one.take()).toHaveLength(1)
    },
  ),
}

/** A run whose two roots are held by two workers, each with its own adapter. */
async function split(given: Scenario, second: Adapter, graph: Graph) {
  const run = await given.start(graph)
  const [one, two] = [await given.worker(), await given.worker(second)]
  const mine = graph.nameOf((await one.take(1))[0]!.step)
  const theirs = graph.nameOf((await two.take(1))[0]!.step)
  return { run, mine, theirs, one, two }
}

async function finish(worker: CaseWorker, run: CaseRun, names: readonly string[]): Promise<void> {
  for (const name of names) await worker.complete(run, name)
  expect(await run.status()).toBe('completed')
}

function batches<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, n) => items.slice(n * size, (n + 1) * size))
}
