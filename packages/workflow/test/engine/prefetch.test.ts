import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { Prefetch } from '../../src/engine/worker/prefetch.ts'

/** A clock that is set by hand. */
function handClock(): Clock & { at: number } {
  return {
    at: 1_000,
    now() {
      return this.at
    },
    after: () => ({ cancel() {} }),
  }
}

function ended(prefetch: Prefetch, times: number): void {
  for (let n = 0; n < times; n += 1) prefetch.ended()
}

describe('a prefetch', () => {
  it('is nothing while no handler has ended', () => {
    expect(new Prefetch(handClock()).size).toBe(0)
  })

  it('is as many steps as ended within the span, the present one or the one before', () => {
    const clock = handClock()
    const prefetch = new Prefetch(clock)

    ended(prefetch, 300)
    const atOnce = prefetch.size
    clock.at += 40
    ended(prefetch, 10)
    const after = prefetch.size

    expect([atOnce, after]).toEqual([300, 300])
  })

  it('shrinks with the handlers’ rate', () => {
    const clock = handClock()
    const prefetch = new Prefetch(clock)

    ended(prefetch, 400)
    clock.at += 400
    const share = prefetch.size
    clock.at += 40
    const none = prefetch.size

    // 400 in 400 ms are 40 in a span of 40 ms.
    expect([share, none]).toEqual([40, 0])
  })

  it('is nothing for handlers that take seconds', () => {
    const clock = handClock()
    const prefetch = new Prefetch(clock)

    for (let n = 0; n < 5; n += 1) {
      clock.at += 2_000
      prefetch.ended()
    }
    clock.at += 2_000

    expect(prefetch.size).toBe(0)
  })

  it('has a limit', () => {
    const prefetch = new Prefetch(handClock())

    ended(prefetch, 5_000)

    expect(prefetch.size).toBe(1_000)
  })
})
