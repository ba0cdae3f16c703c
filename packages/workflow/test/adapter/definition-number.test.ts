import { expect, test } from 'vitest'
import { definitionNumber } from '../../src/adapter/index.ts'

const RECORD = { name: 'orders', version: 3, checksum: 'ab' }

test('the number of a definition fits a column of type integer, above all numbers that were given in sequence', () => {
  const numbers = Array.from({ length: 2_000 }, (_, version) => definitionNumber({ ...RECORD, version }))

  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(2 ** 20)
  expect(Math.max(...numbers)).toBeLessThan(2 ** 31)
  expect(new Set(numbers).size).toBe(numbers.length)
})

test('the name, the version and the checksum each change the number of a definition, and so does a number that was taken', () => {
  const numbers = [
    definitionNumber(RECORD),
    definitionNumber({ ...RECORD, name: 'order' }),
    definitionNumber({ ...RECORD, version: 4 }),
    definitionNumber({ ...RECORD, checksum: 'abc' }),
    definitionNumber(RECORD, 1),
  ]

  expect(new Set(numbers).size).toBe(numbers.length)
  // Stores have this number in their rows: it must never change.
  expect(numbers[0]).toBe(2_485_427)
})
