import { describe, expect, it } from 'vitest'
import { fullestWindow, peaksOf, spreadOf } from '../src/judge.ts'
import type { HandlerCall } from '../src/ledger.ts'

describe('the judge of limits', () => {
  it('counts handlers of a key that run at once', () => {
    const calls = [call('a', 0, 10), call('a', 5, 15), call('a', 9, 12), call('b', 0, 100)]
    expect(peaksOf(calls, 'call')).toEqual([
      { limit: 'customer', key: 'a', atOnce: 3, atMs: 9, spans: calls.slice(0, 3) },
      { limit: 'customer', key: 'b', atOnce: 1, atMs: 0, spans: calls.slice(3) },
    ])
  })

  it('takes a handler that begins as another ends for its successor', () => {
    expect(peaksOf([call('a', 0, 10), call('a', 10, 20)], 'call')[0]!.atOnce).toBe(1)
  })

  it('counts a run from its first handler to its last', () => {
    const calls = [call('a', 0, 1, 'one'), call('a', 20, 21, 'one'), call('a', 10, 11, 'two')]
    expect(peaksOf(calls, 'run')[0]!.atOnce).toBe(2)
    expect(peaksOf(calls, 'call')[0]!.atOnce).toBe(1)
  })

  it('finds the fullest window wherever it begins', () => {
    const calls = [0, 900, 950, 1_000, 1_899, 1_900].map((fromMs) => call('a', fromMs, fromMs + 1))
    expect(fullestWindow(calls, 1_000)).toBe(4)
  })

  it('says when the median key and the last key ended', () => {
    const calls = [call('a', 0, 10), call('b', 0, 20), call('c', 0, 70)]
    expect(spreadOf(calls, 5)).toEqual({ keys: 3, medianMs: 15, lastMs: 65 })
  })
})

let made = 0

function nextRun(): string {
  made += 1
  return `run-${made}`
}

function call(key: string, fromMs: number, toMs: number, runId = nextRun()): HandlerCall {
  return { limit: 'customer', key, runId, worker: 'one', fromMs, toMs }
}
