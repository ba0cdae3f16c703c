import { expect, test } from 'vitest'
import { verdictOf } from '../src/schedules/verdict.ts'

const key = (second: number) => `schedule:tick 0:${new Date(second * 1_000).toISOString()}`
const range = { from: 1_000, to: 3_000, schedules: 1 }

test('the soak of schedules is good only if each second has one run', () => {
  const all = [1, 2, 3].map(key)
  const firings = all.map((each) => ({ key: each, status: 'started' }))

  expect(verdictOf({ runs: all, firings, ...range }).isGood).toBe(true)
  expect(verdictOf({ runs: all.slice(1), firings, ...range }).text).toContain('1 missing')
  expect(verdictOf({ runs: [...all, key(2)], firings, ...range }).text).toContain('1 doubled')
  expect(verdictOf({ runs: all, firings: [...firings, firings[0]!], ...range }).text).toContain('1 doubled')
  expect(verdictOf({ runs: all, firings: [{ key: key(1), status: 'missed' }], ...range }).text).toContain(
    '1 not started',
  )
  expect(verdictOf({ runs: [], firings: [], from: 3_000, to: 0, schedules: 1 }).isGood).toBe(false)
})
