import { describe, expect, it } from 'vitest'
import { EndMarks } from '../src/ends/end-marks.ts'

const DEAD = 1_000_000

/** Marks, and looks that scan a given number of dead entries. Each returns the numbers after which it began. */
function simulatedMarks() {
  let time = 0
  const marks = new EndMarks(() => time)
  const look = (
    ids: readonly number[],
    dead: number,
    found: {
      readonly last?: number
      readonly ends?: readonly (readonly [id: number, sequence: number])[]
      readonly isFull?: boolean
    },
  ) => {
    const { last, ends = [], isFull = false } = found
    const { after, end } = marks.begin(ids)
    end({
      ends: ends.map(([id, sequence]) => ({ definition_id: id, sequence: String(sequence) })),
      isExhausted: !isFull,
      last: last === undefined ? null : String(last),
      scanned: dead + ends.length + ids.length,
    })
    return after.map(Number)
  }
  return { look, pass: (ms: number) => (time += ms) }
}

/** Looks until one begins at the mark itself. */
function settled(last: number) {
  const simulated = simulatedMarks()
  while (simulated.look([1], DEAD, { last })[0] !== last - 100);
  return simulated
}

describe('marks of ends', () => {
  it('are not used while looks at all ends scan nothing in vain', () => {
    const { look } = simulatedMarks()

    expect(look([1], 0, { last: 50_000 })).toEqual([0])
    expect(look([1], 0, { ends: [[1, 60_000]], last: 60_000 })).toEqual([0])
    expect(look([1], 0, { last: 60_000 })).toEqual([0])
  })

  it('are used after looks that did, less far behind each time', () => {
    const { look } = simulatedMarks()
    look([1], DEAD, { last: 50_000 })

    expect(look([1], DEAD, { last: 50_000 })).toEqual([30_000])
    expect(look([1], DEAD, { last: 50_000 })).toEqual([49_000])
    expect(look([1], DEAD, { last: 50_000 })).toEqual([49_900])
  })

  it('stay before the first end that is not forgotten, of its definition', () => {
    const { look } = settled(50_000)
    look([1, 2], 0, {
      ends: [
        [1, 50_301],
        [1, 50_500],
      ],
      last: 50_600,
    })

    expect(look([1, 2], 0, { last: 50_600 })).toEqual([50_200, 50_500])
  })

  it('are held back by an end that nobody can follow no further than a thousand', () => {
    const { look } = settled(50_000)
    look([1], 0, { ends: [[1, 50_001]], last: 90_000 })

    expect(look([1], 0, { last: 90_000 })).toEqual([90_000 - 1_000 - 100])
  })

  it('pass no end that a full look did not reach', () => {
    const { look } = settled(50_000)
    look([1, 2], 0, {
      ends: [
        [1, 50_001],
        [1, 50_002],
      ],
      last: 90_000,
      isFull: true,
    })

    expect(look([1, 2], 0, { last: 90_000 })).toEqual([49_900, 0])
  })

  it('move with what is found if the role may not read the sequence', () => {
    const { look } = simulatedMarks()
    for (let count = 0; count < 4; count += 1) look([1], DEAD, { ends: [[1, 7_001]] })

    expect(look([1], DEAD, { ends: [[1, 7_001]] })).toEqual([6_900])
  })

  it('are left out again after a rest: an end may have been committed long after it got its number', () => {
    const { look, pass } = settled(50_000)
    pass(120_000)

    expect(look([1], DEAD, { last: 50_000 })).toEqual([0])
  })
})
