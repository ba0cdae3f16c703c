import type { Claim } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { compensated, completed, PAIR } from '../scenario/index.ts'

export const sizeCases: Cases = {
  'a chain of 200 steps runs on hand-backs alone': async (given) => {
    const run = await given.chain(200)
    const worker = await given.worker()
    let claims = await worker.take()
    let settled = 0
    while (claims.length > 0) {
      claims = (
        await worker.settle(
          claims.map((claim) => completed(claim)),
          1,
        )
      ).claims
      settled += 1
    }
    expect(settled).toBe(200)
    expect(await run.status()).toBe('completed')
  },

  'a chain of 100 steps is undone on hand-backs alone, last step first': async (given) => {
    const run = await given.chain(101)
    const worker = await given.worker()
    let claims = await worker.take()
    for (let step = 0; step < 100; step += 1) {
      claims = (
        await worker.settle(
          claims.map((claim) => completed(claim)),
          1,
        )
      ).claims
    }
    await worker.fail(run, 's100')
    await given.undo(run)

    const order: number[] = []
    claims = await worker.take()
    while (claims.length > 0) {
      order.push(...claims.map(({ step }) => step))
      claims = (await worker.settle(claims.map(compensated), 1)).claims
    }

    expect(order).toEqual(Array.from({ length: 100 }, (_, n) => 99 - n))
    expect(await run.status()).toBe('compensated')
  },

  'a fan of 2,000 steps opens, closes and completes': async (given) => {
    const run = await given.fan(2_000)
    const worker = await given.worker()
    const { claims } = await worker.settle([completed(await worker.claimOf(run, 'root'))], 500)
    const rest = await worker.take(5_000)
    const middle: readonly Claim[] = [...claims, ...rest]

    const ready: number[] = []
    for (let from = 0; from < 2_000; from += 500) {
      await worker.settle(middle.slice(from, from + 500).map((claim) => completed(claim)))
      ready.push((await run.step('sink')).openDependencies)
    }

    expect([claims.length, rest.length]).toEqual([500, 1_500])
    expect(ready).toEqual([1_500, 1_000, 500, 0])
    expect((await worker.complete(run, 'sink')).runs).toMatchObject([{ runId: run.id, status: 'completed' }])
  },

  'a failing fan of 2,000 steps cancels the steps that have not begun': async (given) => {
    const run = await given.fan(2_000)
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(run, 'root'))], 0)
    const [one] = await worker.take(1)

    await worker.fail(run, run.graph.nameOf(one!.step))

    const counts = new Map<string, number>()
    for (const status of Object.values(await run.statuses()))
      counts.set(status, (counts.get(status) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual({ completed: 1, failed: 1, cancelled: 2_000 })
    expect(await worker.take()).toEqual([])
  },

  'outcomes of 200 runs settle in one batch': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = Array.from({ length: 200 }, () => given.ids.runId())
    await given.adapter.startRuns(
      runs.map((runId) => ({ runId, definitionId: graph.id, workflow: 'pair', key: null, input: '1' })),
    )
    const worker = await given.worker()
    const first = await worker.take()

    const second = await worker.settle(
      first.map((claim) => completed(claim)),
      200,
    )
    const last = await worker.settle(second.claims.map((claim) => completed(claim)))

    expect(second.claims).toHaveLength(200)
    expect(last.runs.map(({ runId }) => runId).sort()).toEqual(runs)
    expect(last.runs.every(({ status }) => status === 'completed')).toBe(true)
  },
}
