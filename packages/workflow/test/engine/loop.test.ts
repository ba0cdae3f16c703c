import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { Loop } from '../../src/engine/base/loop.ts'

/** Timers that fire when the test says so. */
function handClock(): Clock & { readonly delays: number[]; fire(): void } {
  const timers = new Set<() => void>()
  const delays: number[] = []
  return {
    delays,
    now: () => 0,
    after(delayMs, fire) {
      delays.push(delayMs)
      timers.add(fire)
      return { cancel: () => timers.delete(fire) }
    },
    fire() {
      for (const fire of [...timers]) {
        timers.delete(fire)
        fire()
      }
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a loop', () => {
  it('runs one round at a time, and one more when woken meanwhile, however often', async () => {
    const clock = handClock()
    const ends: (() => void)[] = []
    const loop = new Loop({
      clock,
      intervalMs: 5,
      work: () => new Promise((end) => ends.push(end)),
      onError: () => 0,
    })

    loop.wake()
    loop.wake()
    loop.wake()
    expect(ends).toHaveLength(1)
    ends[0]!()
    await turn()
    expect(ends).toHaveLength(2)
    ends[1]!()
    await turn()

    expect(ends).toHaveLength(2)
    expect(clock.delays).toEqual([5])
  })

  it('waits out its delay after an error, woken or not', async () => {
    const clock = handClock()
    let rounds = 0
    const loop = new Loop({
      clock,
      intervalMs: 5,
      work: async () => {
        rounds += 1
        if (rounds === 1) throw new Error('no')
      },
      onError: () => 70,
    })

    loop.wake()
    await turn()
    loop.wake()
    expect(rounds).toBe(1)
    clock.fire()
    await turn()

    expect(rounds).toBe(2)
    expect(clock.delays).toEqual([70, 5])
  })

  it('keeps no timer while it may rest, and runs again when woken', async () => {
    const clock = handClock()
    let rounds = 0
    const loop = new Loop({
      clock,
      intervalMs: 5,
      work: async () => {
        rounds += 1
      },
      onError: () => 0,
      mayRest: () => true,
    })

    loop.wake()
    await turn()
    loop.wake()
    await turn()

    expect(rounds).toBe(2)
    expect(clock.delays).toEqual([])
  })

  it('stops after the round under way', async () => {
    const clock = handClock()
    let end = () => {}
    let rounds = 0
    const loop = new Loop({
      clock,
      intervalMs: 5,
      work: () => {
        rounds += 1
        return new Promise((resolve) => {
          end = resolve
        })
      },
      onError: () => 0,
    })
    loop.wake()

    const stopped = loop.stop()
    loop.wake()
    end()
    await stopped
    clock.fire()

    expect(rounds).toBe(1)
  })
})
