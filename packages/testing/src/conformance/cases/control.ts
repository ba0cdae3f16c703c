import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { retry } from '../scenario/index.ts'

export const controlCases: Cases = {
  'a step that waits for its next attempt can be tried at once, with a fresh count of failures': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 60_000)])

    await given.operate(run).retryStep('a')

    expect(await worker.take()).toMatchObject([{ step: 0, fence: 2, failures: 0, losses: 0 }])
  },

  'a step that is tried again at once keeps its count of lost workers': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.claimOf(run, 'a')
    await given.expireLeases()
    await given.sweep()

    await given.operate(run).retryStep('a')

    expect(await run.step('a')).toMatchObject({ status: 'ready', failures: 0, losses: 1 })
  },

  'a step that is running, still waits for others, or has completed cannot be retried': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.take(1)
    const before = await given.snapshot()

    for (const name of ['a', 'b', 'd']) {
      await expect(given.operate(run).retryStep(name)).rejects.toMatchObject({
        code: 'action_refused',
        step: name,
      })
    }
    await expect(given.operate(run).retryStep('bb')).rejects.toMatchObject({ code: 'invalid_option' })
    expect(await given.snapshot()).toEqual(before)
  },

  'a skipped step counts as done, keeps its stand-in, and its dependents begin': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    await given.operate(run).skipStep('b', { output: { by: 'hand' } })
    await given.operate(run).skipStep('c')

    expect(await run.step('b')).toMatchObject({ status: 'skipped', output: '{"by":"hand"}', workerId: null })
    expect((await run.step('c')).output).toBeNull()
    expect(await worker.take()).toMatchObject([{ step: 3 }])
    await worker.complete(run, 'd')
    expect(await run.status()).toBe('completed')
  },

  'skipping the last open step completes the run': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    await given.operate(run).skipStep('b')

    expect(await run.record()).toMatchObject({ status: 'completed', finishedAt: expect.any(Number) })
    expect(await worker.take()).toEqual([])
  },

  'a step can be skipped in a paused run, and its dependents begin after the run is resumed': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()
    await given.operate(run).pause()

    await given.operate(run).skipStep('a')

    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    expect(await worker.take()).toMatchObject([{ step: 1 }])
  },

  'a step that is running, isn’t ready or has ended cannot be skipped': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.take(1)
    const before = await given.snapshot()

    for (const name of ['a', 'b', 'd']) {
      await expect(given.operate(run).skipStep(name)).rejects.toMatchObject({
        code: 'action_refused',
        step: name,
      })
    }
    expect(await given.snapshot()).toEqual(before)
  },

  'a skipped step is not undone': async (given) => {
    const run = await given.chain(3)
    const worker = await given.worker()
    await worker.complete(run, 's0')
    await given.operate(run).skipStep('s1')
    await worker.fail(run, 's2')

    await given.undo(run)
    await worker.compensate(run, 's0')

    expect(await run.statuses()).toEqual({ s0: 'compensated', s1: 'skipped', s2: 'failed' })
    expect(await run.status()).toBe('compensated')
  },

  'a cancellation without an undo is drained as such': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    expect(await given.operate(run).cancel({ compensate: false })).toBe(true)

    expect(await given.drain()).toMatchObject([{ runId: run.id, stop: 'abandonment' }])
    // The second cancellation changes nothing, whatever it asks for.
    expect(await given.operate(run).cancel()).toBe(false)
    expect(await given.drain()).toMatchObject([{ stop: 'abandonment' }])
  },

  'a change is decided on the run’s present state, and a refused change writes nothing': async (given) => {
    const run = await given.pair()
    const before = await given.snapshot()

    const changing = given.adapter.changeRun({
      runId: run.id,
      decide: (found) => {
        expect(found).toMatchObject({
          run: { runId: run.id, status: 'running', openSteps: 1, stop: null, endsAs: null },
          steps: [
            { step: 0, name: 'a', status: 'ready', openDependencies: 0 },
            { step: 1, name: 'b', status: 'pending', openDependencies: 1 },
          ],
          shape: { steps: [{ name: 'a' }, { name: 'b', dependsOn: [0] }] },
        })
        expect(found.now).toBeGreaterThan(0)
        throw new Error('no')
      },
    })

    await expect(changing).rejects.toThrow('no')
    expect(await given.snapshot()).toEqual(before)
  },

  'an empty change writes nothing, but still answers': async (given) => {
    const run = await given.pair()
    const before = await given.snapshot()

    const answer = await given.adapter.changeRun({
      runId: run.id,
      decide: ({ steps }) => ({ change: null, answer: { steps: steps.length } }),
    })

    expect(answer).toEqual({ steps: 2 })
    expect(await given.snapshot()).toEqual(before)
  },

  'changing an unknown run answers null': async (given) => {
    for (const runId of [given.ids.runId(), 'no run at all']) {
      const decide = () => ({ change: null, answer: {} })
      expect(await given.adapter.changeRun({ runId, decide })).toBeNull()
    }
  },
}
