import { describe, expect, it } from 'vitest'
import { didYouMean, nearest } from '../../src/graph/index.ts'

describe('the nearest name', () => {
  it.each([
    ['reserveStok', 'reserveStock'],
    ['reserve_stock', 'reserveStock'],
    ['RESERVE-STOCK', 'reserveStock'],
    ['chargeCrad', 'chargeCard'],
    ['xchargeCard', 'chargeCard'],
  ])('of %s is %s', (name, found) => {
    expect(nearest(name, ['checkFraud', 'reserveStock', 'chargeCard'])).toBe(found)
  })

  it('is none when all names are far', () => {
    expect(nearest('sendMail', ['reserveStock', 'chargeCard'])).toBeUndefined()
    expect(didYouMean('sendMail', ['reserveStock', 'chargeCard'])).toBe('')
  })

  it('is the first of equally near names', () => {
    expect(nearest('step3', ['step1', 'step2'])).toBe('step1')
  })
})
