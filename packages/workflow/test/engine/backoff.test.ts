import { describe, expect, it } from 'vitest'
import type { RetryPolicy } from '../../src/definition/step.ts'
import { outageDelayMs, retryDelayMs } from '../../src/engine/base/backoff.ts'

const policy: RetryPolicy = {
  attempts: 9,
  backoff: 'exponential',
  initialMs: 1_000,
  maxMs: 30_000,
  jitter: false,
  forMs: null,
}
const delays = (over: Partial<RetryPolicy>, random = () => 0) =>
  [1, 2, 3, 4, 5, 6].map((failures) => retryDelayMs({ ...policy, ...over }, failures, random))

describe('the delay before the next attempt', () => {
  it.each([
    ['exponential', [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]],
    ['linear', [1_000, 2_000, 3_000, 4_000, 5_000, 6_000]],
    ['constant', [1_000, 1_000, 1_000, 1_000, 1_000, 1_000]],
  ] as const)('grows as %s says, up to its maximum', (backoff, expected) => {
    expect(delays({ backoff })).toEqual(expected)
  })

  it('is spread over the upper half of its value by jitter', () => {
    expect(delays({ jitter: true }, () => 0)[0]).toBe(500)
    expect(delays({ jitter: true }, () => 0.999_999)[0]).toBe(1_000)
  })

  it('stays a number however many failures there were', () => {
    expect(retryDelayMs(policy, 100_000, () => 0)).toBe(30_000)
    expect(retryDelayMs({ ...policy, initialMs: 0 }, 100_000, () => 0)).toBe(0)
  })
})

it('a store that does not answer is called less and less often, but at least every five seconds', () => {
  const waits = Array.from({ length: 50 }, (_, n) => outageDelayMs(n + 1, () => 0.999_999))

  expect(waits.slice(0, 3)).toEqual([100, 200, 400])
  expect(Math.max(...waits)).toBe(5_000)
})
