import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { completed } from '../scenario/index.ts'

// Often enough that both orders occur.
const ROUNDS = 8

export const controlRaceCases: Cases = {
  'a pause and the end of a step at the same moment lose no dependent': withSecond(async (given, second) => {
    const graph = await given.graph('pair', { a: [], b: ['a'] })
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await given.start(graph)
      const worker = await given.worker(second)
      const claim = await worker.claimOf(run, 'a')

      const [settlement] = await Promise.all([
        worker.settle([completed(claim)], 0),
        given.operate(run).pause(),
      ])

      expect(settlement.results).toEqual(['settled'])
      expect(await worker.take()).toEqual([])
      await given.operate(run).resume()
      await worker.complete(run, 'b')
      expect(await run.status()).toBe('completed')
    }
  }),

  'resuming and claiming at the same moment lose no step': withSecond(async (given, second) => {
    const graph = await given.graph('single', { a: [] })
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await given.start(graph)
      const worker = await given.worker(second)
      await given.operate(run).pause()

      const [, claims] = await Promise.all([given.operate(run).resume(), worker.take()])

      expect([...claims, ...(await worker.take())]).toMatchObject([{ runId: run.id, step: 0 }])
      await worker.complete(run, 'a')
      expect(await run.status()).toBe('completed')
    }
  }),

  'a run that is retried twice at the same moment goes forward once': withSecond(async (given, second) => {
    const graph = await given.graph('single', { a: [] })
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = await given.start(graph)
      const worker = await given.worker()
      await worker.fail(run, 'a')
      await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])

      const retried = await Promise.allSettled([
        given.operate(run).retry(),
        given.operate(run, second).retry(),
      ])

      expect(retried.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await worker.take()).toHaveLength(1)
      await worker.complete(run, 'a')
      expect(await given.operate(run).history()).toHaveLength(1)
    }
  }),

  'a skip and a claim at the same moment: exactly one of them gets the step': withSecond(
    async (given, second) => {
      const graph = await given.graph('pair', { a: [], b: ['a'] })
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = await given.start(graph)
        const worker = await given.worker(second)

        const [skipped] = await Promise.allSettled([given.operate(run).skipStep('a'), worker.take()])

        const wasSkipped = skipped.status === 'fulfilled'
        expect((await run.step('a')).status).toBe(wasSkipped ? 'skipped' : 'running')
        if (!wasSkipped) await worker.complete(run, 'a')
        await worker.complete(run, 'b')
        expect(await run.status()).toBe('completed')
      }
    },
  ),
}
