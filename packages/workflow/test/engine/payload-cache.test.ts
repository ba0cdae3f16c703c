import { describe, expect, it } from 'vitest'
import type { Adapter, PayloadRequest } from '../../src/adapter/index.ts'
import { PayloadCache } from '../../src/engine/base/payload-cache.ts'

const UNTIMED = {
  availableAt: null,
  waitingSince: null,
  signalledAt: null,
  failingSince: null,
  succeeded: false,
}

function cacheOverStore() {
  const reads: (readonly PayloadRequest[])[] = []
  const store: Pick<Adapter, 'load'> = {
    async load(requests) {
      reads.push(requests)
      return requests.map(({ runId, steps }) => ({
        runId,
        input: `"stored input of ${runId}"`,
        cause: null,
        now: 0,
        steps: steps.map((step) => ({ ...UNTIMED, step, output: String(step), error: null })),
      }))
    },
  }
  return { cache: new PayloadCache(store as Adapter), reads }
}

describe('the payload cache', () => {
  it('knows a run once it has seen the input and all requested outputs', () => {
    const { cache } = cacheOverStore()

    cache.rememberInput('run', '1')
    cache.rememberOutput('run', 2, null)

    expect(cache.known('run', [2])).toEqual({ input: '1', outputs: [null] })
    expect(cache.known('run', [2, 3])).toBeUndefined()
    expect(cache.known('other', [])).toBeUndefined()
  })

  it('reads payloads for concurrent attempts in one statement, and keeps them', async () => {
    const { cache, reads } = cacheOverStore()

    const [one, other] = await Promise.all([cache.read('a', [1]), cache.read('b', [2, 3])])

    expect(reads).toHaveLength(1)
    expect(one).toEqual({ input: '"stored input of a"', outputs: ['1'] })
    expect(other?.outputs).toEqual(['2', '3'])
    expect(cache.known('b', [3, 2])?.outputs).toEqual(['3', '2'])
  })

  it('keeps no output that only another read of the same call has asked for: that step may still be running', async () => {
    const { cache, reads } = cacheOverStore()

    await Promise.all([cache.load({ runId: 'a', steps: [1, 2] }), cache.read('a', [1])])

    expect(reads).toHaveLength(1)
    expect(cache.known('a', [1])?.outputs).toEqual(['1'])
    expect(cache.known('a', [1, 2])).toBeUndefined()
  })

  it('evicts runs that were not used for long, and keeps the others', () => {
    const { cache } = cacheOverStore()
    const half = 'x'.repeat(5 * 1024 * 1024)
    cache.rememberInput('used', '1')
    cache.rememberInput('unused', '1')

    for (let n = 0; n < 10; n += 1) {
      cache.rememberInput(`filler ${n}`, half)
      expect(cache.known('used', [])).toEqual({ input: '1', outputs: [] })
    }

    expect(cache.known('unused', [])).toBeUndefined()
    expect(cache.known('filler 0', [])).toBeUndefined()
  })

  it('does not keep a run larger than the cache', () => {
    const { cache } = cacheOverStore()
    cache.rememberInput('small', '1')
    const large = 'x'.repeat(1024 * 1024)

    for (let step = 0; step < 100; step += 1) cache.rememberOutput('large', step, large)

    expect(cache.known('large', [0])).toBeUndefined()
    expect(cache.known('small', [])).toBeDefined()
  })

  it('forgets a run', () => {
    const { cache } = cacheOverStore()
    cache.rememberInput('run', '1')

    cache.forget('run')

    expect(cache.known('run', [])).toBeUndefined()
  })
})
