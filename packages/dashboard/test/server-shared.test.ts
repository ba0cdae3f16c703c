import { memory } from '@belay/testing'
import { createEngine, define } from '@belay/workflow'
import { describe, expect, test } from 'vitest'
import type { RunPage } from '../src/api.ts'
import { dashboard } from '../src/index.ts'
import { Shared } from '../src/shared.ts'
import { get } from './setup/calls.ts'

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

  test('what is over is forgotten with the next second’s first read', async () => {
    const { time, shared: reads } = shared()
    await reads.read('a', async () => 1)
    time.now = 2_000
    await reads.read('b', async () => 1)
    expect(reads.size).toBe(1)
  })
})

describe('many reads at once', () => {
  const waiting = define('waiting', { version: 1 }).waitForSignal('paid')
  const asked = async () => {
    const engine = createEngine({ adapter: memory(), workflows: [waiting], logger: false })
    const { id } = await engine.run(waiting, undefined, { key: 'order:1' })
    const handler = dashboard({
      engine,
      authorize: ({ headers }) => ({ by: headers.get('x-by') ?? 'ada', can: [] }),
    })
    const ask = (path: string, by: string) => get(handler, path, { headers: { 'x-by': by } })
    return { id, ask }
  }

  test('of one viewer over the bound are refused, and another viewer is answered', async () => {
    const { ask } = await asked()

    const many = Array.from({ length: 300 }, (_, n) => ask(`runs?key=${n}`, 'ada'))
    const other = await ask('runs', 'bob')

    expect(other.status).toBe(200)
    const answers = await Promise.all(many)
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(50)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(200)
    expect(refused[0]!.headers.get('retry-after')).toBe('1')
    expect((await ask('runs', 'ada')).status).toBe(200)
  })

  test('of many viewers over the bound are refused, and all is well afterwards', async () => {
    const { ask } = await asked()

    const many = Array.from({ length: 400 }, (_, n) => ask(`runs?key=${n}`, `viewer ${n}`))

    const statuses = (await Promise.all(many)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    expect((await ask('runs', 'ada')).status).toBe(200)
  })

  test('a run is read once, whatever its address calls it', async () => {
    const { id, ask } = await asked()
    const spellings = [id, id.toUpperCase(), id.slice(0, 8), id.slice(0, 13), 'order:1', 'waiting/order:1']

    const pages = await Promise.all(
      spellings.map(async (name) => (await ask(`runs/${encodeURIComponent(name)}`, 'ada')).json()),
    )

    expect(new Set(pages.map((page) => (page as RunPage).revision)).size).toBe(1)
  })
})
