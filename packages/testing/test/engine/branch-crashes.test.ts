import { define, StoreUnavailableError } from '@belay/workflow'
import type { Outcome } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { changed, engines, gate, StoppableClock, statuses } from './bench-of-engines.ts'

const isDecision = ({ type }: Outcome) => type === 'decided' || type === 'skipped'

/** A workflow that notes how often it asked and how often its handler was called. The first answer is given; every later one is the opposite. */
function askedOnce(first: boolean) {
  const noted = { asked: 0, called: 0 }
  const workflow = define('asked', { version: 1 })
    .step('work', {
      when: () => {
        noted.asked += 1
        return noted.asked === 1 ? first : !first
      },
      run: () => {
        noted.called += 1
        return noted.called
      },
    })
    .step('after', { dependsOn: ['work'], onSkipped: 'run', run: ({ deps }) => deps.work ?? 'nothing' })
  return { noted, workflow }
}

describe.each([true, false])('a worker whose when() said %s', (answer) => {
  const result = answer ? { work: 1, after: 1 } : { work: undefined, after: 'nothing' }

  it('repeats the settlement when its answer is lost, and asks nobody again', async () => {
    const { clock, adapter, worker } = engines()
    const { noted, workflow } = askedOnce(answer)
    let losses = 0
    const losing = changed(adapter, {
      async settle(settlement) {
        const settled = await adapter.settle(settlement)
        if (losses < 2 && settlement.outcomes.some(isDecision)) {
          losses += 1
          throw new StoreUnavailableError('the answer was lost')
        }
        return settled
      },
    })
    const engine = await worker({ adapter: losing, workflows: [workflow] })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual(result)
    expect(losses).toBeGreaterThan(0)
    expect(noted).toEqual({ asked: 1, called: answer ? 1 : 0 })
  })

  it('dies after the settlement: the next worker does what was decided', async () => {
    const { clock, adapter, worker } = engines()
    const { noted, workflow } = askedOnce(answer)
    const own = new StoppableClock(clock)
    const dying = changed(adapter, {
      async settle(settlement) {
        const settled = await adapter.settle(settlement)
        if (!settlement.outcomes.some(isDecision)) return settled
        own.stop()
        return new Promise(() => {})
      },
    })
    const first = await worker({ adapter: dying, clock: own, workflows: [workflow], lease: '2s' })
    const { id } = await first.run(workflow)
    await clock.advance('10ms')

    const next = await worker({ workflows: [workflow], lease: '2s' })

    expect(await clock.runUntil(next.runs.handle(id).result(), { limit: '1m' })).toEqual(result)
    expect(noted).toEqual({ asked: 1, called: answer ? 1 : 0 })
  })

  it('dies before the settlement: nothing was decided, so the next worker asks', async () => {
    const { clock, adapter, worker } = engines()
    const { noted, workflow } = askedOnce(!answer)
    const own = new StoppableClock(clock)
    const dying = changed(adapter, {
      settle() {
        own.stop()
        return new Promise(() => {})
      },
    })
    const first = await worker({ adapter: dying, clock: own, workflows: [workflow], lease: '2s' })
    const { id } = await first.run(workflow)
    await clock.advance('10ms')

    const next = await worker({ workflows: [workflow], lease: '2s' })

    expect(await clock.runUntil(next.runs.handle(id).result(), { limit: '1m' })).toEqual(result)
    expect(noted).toEqual({ asked: 2, called: answer ? 1 : 0 })
  })
})

describe('between the decision and the handler', () => {
  /** An engine whose decisions are recorded, but not answered before `answer` opens. */
  async function heldDecision() {
    const bench = engines()
    const { adapter, worker } = bench
    const answer = gate()
    const recorded = gate()
    const holding = changed(adapter, {
      async settle(settlement) {
        const settled = await adapter.settle(settlement)
        if (settlement.outcomes.some(isDecision)) {
          recorded.open()
          await answer.passed
        }
        return settled
      },
    })
    const { noted, workflow } = askedOnce(true)
    const engine = await worker({ adapter: holding, workflows: [workflow] })
    const run = await engine.run(workflow)
    await bench.clock.runUntil(recorded.passed)
    return { ...bench, noted, workflow, engine, run, answer }
  }

  it('a cancellation comes first: the handler is not called, and nothing is undone', async () => {
    const { clock, noted, run, answer } = await heldDecision()

    await run.cancel()
    answer.open()
    await clock.runUntil(run.result().catch(() => {}))

    expect(noted).toEqual({ asked: 1, called: 0 })
    expect(await run.status()).toMatchObject({ status: 'cancelled' })
    expect(statuses(await run.status())).toEqual({ work: 'cancelled', after: 'cancelled' })
  })

  it('a pause lets the attempt under way end, and no other begin', async () => {
    const { clock, noted, run, answer } = await heldDecision()

    await run.pause()
    answer.open()
    await clock.advance('1s')
    expect(statuses(await run.status())).toEqual({ work: 'completed', after: 'pending' })
    await run.resume()

    expect(await clock.runUntil(run.result())).toEqual({ work: 1, after: 1 })
    expect(noted).toEqual({ asked: 1, called: 1 })
  })

  it('its worker stops: the step is released with its decision', async () => {
    const { clock, worker, noted, workflow, engine, run, answer } = await heldDecision()

    const stopped = engine.stop({ timeout: 0 })
    answer.open()
    await clock.runUntil(stopped)
    await worker({ workflows: [workflow] })

    expect(await clock.runUntil(run.result())).toEqual({ work: 1, after: 1 })
    expect(noted).toEqual({ asked: 1, called: 1 })
  })
})

describe('a lease that is lost while when() is asked', () => {
  it('discards the answer, and the step is decided by its next worker', async () => {
    const { clock, adapter, worker, sleep } = engines()
    const asked: boolean[] = []
    let called = 0
    const workflow = define('slow', { version: 1 }).step('work', {
      when: async () => {
        const isFirst = asked.length === 0
        asked.push(isFirst)
        if (isFirst) await sleep(20_000)
        return !isFirst
      },
      run: () => {
        called += 1
        return called
      },
    })
    let isAway = false
    const losing = changed(adapter, {
      renew: (renewal) =>
        isAway ? Promise.reject(new StoreUnavailableError('away')) : adapter.renew(renewal),
    })
    const first = await worker({ adapter: losing, workflows: [workflow], lease: '2s' })
    const run = await first.run(workflow)
    await clock.advance('10ms')
    isAway = true

    await worker({ workflows: [workflow], lease: '2s' })

    expect(await clock.runUntil(run.result(), { limit: '10s' })).toEqual({ work: 1 })
    await clock.advance('30s')
    expect(asked).toEqual([true, false])
    expect(statuses(await run.status())).toEqual({ work: 'completed' })
  })
})

describe('a run that goes forward again', () => {
  it('keeps what was decided about steps that stay, and decides anew what builds on an undone step', async () => {
    const { clock, worker } = engines()
    const asked: string[] = []
    let broken = true
    const ask = ({ step }: { readonly step: string }) => {
      asked.push(step)
      return asked.filter((name) => name === step).length > 1
    }
    const workflow = define('again', { version: 1 })
      .step('undone', { run: () => 1, compensate: () => {} })
      .step('onUndone', { dependsOn: ['undone'], when: ask, run: () => 'ran' })
      .step('apart', { when: ask, run: () => 'ran' })
      .step('fails', {
        dependsOn: ['onUndone', 'apart'],
        onSkipped: 'run',
        retry: false,
        run: () => {
          if (broken) throw new Error('broken')
          return 'mended'
        },
      })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))
    expect(statuses(await run.status())).toMatchObject({ onUndone: 'skipped', apart: 'skipped' })

    broken = false
    await run.retry()

    expect(await clock.runUntil(run.result())).toEqual({
      ...{ undone: 1, onUndone: 'ran', apart: undefined, fails: 'mended' },
    })
    expect(asked.sort()).toEqual(['apart', 'onUndone', 'onUndone'])
  })
})
