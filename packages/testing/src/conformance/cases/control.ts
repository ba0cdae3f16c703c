import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, LEASE_MS, PAIR, retry } from '../scenario/index.ts'

export const controlCases: Cases = {
  'nothing of a paused run is claimed, and everything once it is resumed': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()

    expect(await given.operate(run).pause()).toBe(true)
    expect(await run.status()).toBe('paused')
    expect(await worker.take()).toEqual([])
    expect(await given.operate(run).resume()).toBe(true)

    expect(await run.status()).toBe('running')
    expect(await worker.take()).toHaveLength(3)
  },

  'a step that ends while its run is paused hands nothing out; what follows it begins after the resumption':
    async (given) => {
      const run = await given.diamond()
      const worker = await given.worker()
      const claim = await worker.claimOf(run, 'a')
      await given.operate(run).pause()

      const settlement = await worker.settle([completed(claim)], 10)

      expect(settlement).toMatchObject({ results: ['settled'], claims: [], runs: [], queued: false })
      expect(await worker.take()).toEqual([])
      expect(await run.statuses()).toEqual({ a: 'completed', b: 'pending', c: 'pending', d: 'pending' })
      await given.operate(run).resume()
      expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready', c: 'ready', d: 'pending' })
      await worker.complete(run, 'b', 'c')
      await worker.complete(run, 'd')
      expect(await run.status()).toBe('completed')
    },

  'a paused run completes when what was in flight was all that was left': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 's0', 's1')
    await given.operate(run).pause()

    const settlement = await worker.settle(claims.map((claim) => completed(claim)))

    expect(settlement.runs).toMatchObject([{ runId: run.id, status: 'completed' }])
    await expect(given.operate(run).resume()).rejects.toMatchObject({ code: 'action_refused' })
  },

  'every step that has not begun waits for the resumption too, and for nothing more after it': async (
    given,
  ) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.settle([retry(await worker.claimOf(run, 'b'), 0)])
    const running = await worker.claimOf(run, 'c')
    const openDependencies = async () =>
      (await given.adapter.readRun(run.id))!.steps.map((step) => step.openDependencies)

    await given.operate(run).pause()
    expect(await openDependencies()).toEqual([0, 1, 0, 3])
    // What comes back meanwhile is held by the run alone.
    await worker.settle([retry(running, 0)])
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    expect(await openDependencies()).toEqual([0, 0, 0, 2])
    expect(await worker.take()).toHaveLength(2)
  },

  'a retry keeps its time through a pause': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 2_000)])
    await given.operate(run).pause()
    await given.advance(900)
    await given.operate(run).resume()

    expect(await worker.take()).toEqual([])
    await given.advance(1_200)
    expect(await worker.take()).toMatchObject([{ step: 0, failures: 1 }])
  },

  'what became due while its run was paused is claimed after the resumption': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 1_000)])
    await given.operate(run).pause()
    await given.advance(1_500)
    // The claim that meets it drops the hint.
    expect(await worker.take()).toEqual([])

    await given.operate(run).resume()

    expect(await worker.take()).toMatchObject([{ runId: run.id, step: 0 }])
  },

  'a step whose worker died while its run was paused is claimed after the resumption': async (given) => {
    const run = await given.pair()
    await (await given.worker()).take()
    await given.operate(run).pause()
    await given.advance(LEASE_MS + 1)
    await given.sweep()
    const heir = await given.worker()
    expect(await heir.take()).toEqual([])

    await given.operate(run).resume()

    expect(await heir.take()).toMatchObject([{ step: 0, losses: 1 }])
  },

  'pausing a paused run and resuming a running one change nothing': async (given) => {
    const run = await given.diamond()
    expect(await given.operate(run).resume()).toBe(false)
    await given.operate(run).pause()
    const before = await given.snapshot()

    expect(await given.operate(run).pause()).toBe(false)

    expect(await given.snapshot()).toEqual(before)
    expect(await given.operate(run).history()).toHaveLength(1)
  },

  'a paused run is paused no more once it is cancelled': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.operate(run).pause()

    expect(await given.operate(run).cancel()).toBe(true)

    expect(await run.statuses()).toEqual({ a: 'completed', b: 'cancelled' })
    expect(await run.status()).toBe('compensating')
    expect(await given.drain()).toMatchObject([{ runId: run.id, stop: 'cancellation' }])
  },

  'a run that is over can be neither paused nor resumed': async (given) => {
    const run = await given.start(await given.graph('single', { a: [] }))
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const before = await given.snapshot()

    await expect(given.operate(run).pause()).rejects.toMatchObject({ code: 'action_refused', runId: run.id })
    await expect(given.operate(run).resume()).rejects.toMatchObject({ code: 'action_refused' })

    expect(await given.snapshot()).toEqual(before)
  },

  'a step that waits for its next try is tried at once, with all its retries before it': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 60_000)])

    await given.operate(run).retryStep('a')

    expect(await worker.take()).toMatchObject([{ step: 0, fence: 2, failures: 0, losses: 0 }])
  },

  'a step that is tried again at once still says how many workers were lost in it': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.claimOf(run, 'a')
    await given.expireLeases()
    await given.sweep()

    await given.operate(run).retryStep('a')

    expect(await run.step('a')).toMatchObject({ status: 'ready', failures: 0, losses: 1 })
  },

  'a step that is running, has to wait or has completed cannot be retried': async (given) => {
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

  'a skipped step counts as done, keeps its stand-in, and what depends on it begins': async (given) => {
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

  'in a paused run a step is skipped, and what depends on it begins after the resumption': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await given.operate(run).pause()

    await given.operate(run).skipStep('a')

    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()
    expect(await worker.take()).toMatchObject([{ step: 1 }])
  },

  'a step that is running, isn’t next or has ended cannot be skipped': async (given) => {
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

  'nothing is undone of a skipped step': async (given) => {
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

  'a cancellation that undoes nothing is drained as such': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    expect(await given.operate(run).cancel({ compensate: false })).toBe(true)

    expect(await given.drain()).toMatchObject([{ runId: run.id, stop: 'abandonment' }])
    // The second changes nothing, whatever it asks for.
    expect(await given.operate(run).cancel()).toBe(false)
    expect(await given.drain()).toMatchObject([{ stop: 'abandonment' }])
  },

  'a change is decided on the run as it stands, and a refusal writes nothing': async (given) => {
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

  'a change of nothing writes nothing, and answers': async (given) => {
    const run = await given.pair()
    const before = await given.snapshot()

    const answer = await given.adapter.changeRun({
      runId: run.id,
      decide: ({ steps }) => ({ change: null, answer: { steps: steps.length } }),
    })

    expect(answer).toEqual({ steps: 2 })
    expect(await given.snapshot()).toEqual(before)
  },

  'there is no change of a run that is unknown': async (given) => {
    for (const runId of [given.ids.runId(), 'no run at all']) {
      const decide = () => ({ change: null, answer: {} })
      expect(await given.adapter.changeRun({ runId, decide })).toBeNull()
    }
  },

  'definitions are read by number, unknown ones left out': async (given) => {
    const graph = await given.graph('pair', PAIR)

    const found = await given.adapter.readDefinitions([graph.id, 1_000_000, graph.id])

    expect(found).toEqual([graph.saved])
    expect(await given.adapter.readDefinitions([])).toEqual([])
  },
}
