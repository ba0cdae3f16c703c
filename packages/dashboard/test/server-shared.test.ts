import { describe, expect, test } from 'vitest'
import { Shared } from '../src/shared.ts'

function shared() {
  const time = { now: 0 }
  let reads = 0
  return { time, shared: new Shared(() => time.now), read: async () => ++reads }
}

describe('shared reads', () => {
  test('five viewers cost one read a second', async () => {
    const { time, shared: reads, read } = shared()
    const viewers = () => Promise.all(Array.from({ length: 5 }, () => reads.read('a', read)))
    expect(await viewers()).toEqual([1, 1, 1, 1, 1])
    time.now = 999
    expect(await viewers()).toEqual([1, 1, 1, 1, 1])
    time.now = 1_000
    expect(await viewers()).toEqual([2, 2, 2, 2, 2])
    expect(await reads.read('b', read)).toBe(3)
  })

  test('a failure reaches all who wait, and the next one reads again', async () => {
    const { shared: reads, read } = shared()
    const fail = () => Promise.reject(new Error('away'))
    const results = await Promise.allSettled([reads.read('a', fail), reads.read('a', read)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await reads.read('a', read)).toBe(1)
  })

  test('after a write nobody joins a read that began before it', async () => {
    const { shared: reads, read } = shared()
    let answer = (_: string): void => {}
    const before = reads.read('a', () => new Promise<string>((resolve) => (answer = resolve)))
    reads.clear()
    expect(await reads.read('a', read)).toBe(1)
    answer('old')
    expect(await before).toBe('old')
    expect(await reads.read('a', read)).toBe(1)
  })

  test('many different reads are not all kept', async () => {
    const { shared: reads, read } = shared()
    for (let key = 0; key < 1_500; key += 1) await reads.read(String(key), read)
    expect(await reads.read('1499', read)).toBe(1_500)
    expect(await reads.read('0', read)).toBe(1_501)
  })
})
