import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** A worker for tests in which days of virtual time pass: it looks rarely, and timers wake it. */

describe('a window for retries', () => {
  const failing = (calls: number[], now: () => number, retry: object) =>
    define('window', { version: 1 }).step('flaky', {
      retry: { backoff: 'constant', initial: '10s', jitter: false, ...retry },
      run: () => {
        calls.push(now())
        throw new Error('no')
      },
    })

  it('lasts for its time after the first failed attempt, and no attempt begins later', async () => {
    const { clock, worker } = engines()
    const calls: number[] = []
    const workflow = failing(calls, () => clock.now(), { for: '45s' })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(calls.map((at) => at - calls[0]!)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
    expect(error).toMatchObject({ attempt: 5 })
  })

  it('ends retries when the window or the number of attempts is used up, whichever comes first', async () => {
    const { clock, worker } = engines()
    const calls: number[] = []
    const workflow = failing(calls, () => clock.now(), { for: '45s', attempts: 2 })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))
    expect(calls).toHaveLength(2)
  })

  it('counts across workers', async () => {
    const { clock, worker } = engines()
    const calls: number[] = []
    const workflow = failing(calls, () => clock.now(), { for: '45s' })
    const first = await worker({ workflows: [workflow] })
    const run = await first.run(workflow)
    await clock.advance('12s')
    await clock.runUntil(first.stop())
    await clock.advance('20s')
    const second = await worker({ workflows: [workflow] })
    await clock.runUntil(
      second.runs
        .handle(run.id)
        .result()
        .catch(() => {}),
    )
    expect(calls.map((at) => at - calls[0]!)).toEqual([0, 10_000, 32_000, 42_000])
  })
})
