import { describe, expect, it } from 'vitest'
import { Few } from '../src/few.ts'

const MANY = 150
const keys = Array.from({ length: MANY }, (_, index) => `k${index}`)

/** Both, after the same. */
function bothOf(act: (map: Pick<Map<string, number>, 'set' | 'delete' | 'clear'>) => void) {
  const few = new Few<string, number>()
  const map = new Map<string, number>()
  act(few as never)
  act(map)
  const pairs = Array.from({ length: few.size }, (_, place) => [few.keyAt(place), few.at(place)] as const)
  return { few, map, pairs }
}

function expectAlike({ few, map, pairs }: ReturnType<typeof bothOf>): void {
  expect(new Map(pairs)).toEqual(map)
  expect(few.values()).toEqual(pairs.map(([, value]) => value))
  for (const key of keys) expect([key, few.has(key), few.get(key)]).toEqual([key, map.has(key), map.get(key)])
}

describe('a map that mostly has few keys', () => {
  it.each([1, 5, 64, 65, 66, MANY])('has %i keys, in the order in which they came', (count) => {
    const both = bothOf((map) => {
      for (const [index, key] of keys.slice(0, count).entries()) map.set(key, index)
    })

    expectAlike(both)
    expect(both.few.values()).toEqual([...both.map.values()])
  })

  it.each([0, 1, 40, 100])('has what is left when it shrinks to %i keys, and takes others', (left) => {
    const both = bothOf((map) => {
      for (const [index, key] of keys.entries()) map.set(key, index)
      for (const key of keys.slice(left)) map.delete(key)
      map.set('k149', 7)
      map.set('k0', 8)
      map.delete('k1')
    })

    expectAlike(both)
    expect(both.few.delete('none')).toBe(false)
  })

  it('is as if it were new once it was emptied', () => {
    const both = bothOf((map) => {
      for (const [index, key] of keys.entries()) map.set(key, index)
      map.clear()
      map.set('k3', 1)
    })

    expectAlike(both)
  })
})
