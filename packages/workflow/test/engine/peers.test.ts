import { describe, expect, it } from 'vitest'
import { shareOf, turnAt } from '../../src/engine/worker/peers.ts'

const peersOf = (count: number, rank: number, definitionId = 1) => [{ definitionId, count, rank }]

describe('an idle worker’s share of the polling', () => {
  it('is everything for a worker that knows no other', () => {
    expect(shareOf([])).toBe(1)
    expect(shareOf(peersOf(1, 0))).toBe(1)
  })

  it('is one of n parts, where n workers have its rarest definition', () => {
    expect(shareOf(peersOf(20, 3))).toBe(20)
    expect(shareOf([...peersOf(20, 3), ...peersOf(2, 1, 2)])).toBe(2)
  })
})

describe('a hint that there is work', () => {
  it.each([0, 0.1, 0.5, 0.99, 0.999999])(
    'sends three of twenty idle workers at once, and six a moment later: draw %f',
    (draw) => {
      const turns = Array.from({ length: 20 }, (_, rank) =>
        turnAt(peersOf(20, rank), { definitionIds: [1], draw }),
      )

      expect(turns.filter((turn) => turn === 'now')).toHaveLength(3)
      expect(turns.filter((turn) => turn === 'soon')).toHaveLength(6)
    },
  )

  it.each([1, 2, 3])('makes all of them look when there are only %i', (count) => {
    for (let rank = 0; rank < count; rank += 1) {
      expect(turnAt(peersOf(count, rank), { definitionIds: [1], draw: 0.7 })).toBe('now')
    }
  })

  it('is not for a worker without handlers for the work', () => {
    expect(turnAt(peersOf(20, 0), { definitionIds: [2], draw: 0 })).toBe('never')
  })

  it('makes every worker look when it names no work, or when the peers are unknown', () => {
    expect(turnAt(peersOf(20, 19), undefined)).toBe('now')
    expect(turnAt([], { definitionIds: [1], draw: 0 })).toBe('now')
  })
})
