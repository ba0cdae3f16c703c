import { expect, test } from 'vitest'
import { ClaimWindow } from '../../src/engine/worker/claim-window.ts'

test('doubles with every round that goes well', () => {
  const window = new ClaimWindow()
  const begin = window.room

  window.claimed(begin)
  const during = window.room
  window.ended(begin, false)

  expect(begin).toBeGreaterThan(0)
  expect(during).toBe(0)
  expect(window.room).toBe(2 * begin)
})

test('is halved when what claimed steps bring finds no room, and never closes', () => {
  const window = new ClaimWindow()
  const begin = window.room
  window.claimed(begin)

  window.ended(begin, true)
  const halved = window.room
  for (let round = 0; round < 100; round += 1) window.ended(0, true)

  expect(halved).toBe(begin / 2)
  expect(window.room).toBeGreaterThan(0)
})

test('grows slowly once it has been too much', () => {
  const window = new ClaimWindow()
  window.claimed(window.room)
  window.ended(32, true)
  const small = window.room

  window.claimed(small)
  window.ended(small, false)

  expect(window.room).toBeGreaterThan(small)
  expect(window.room).toBeLessThan(2 * small)
})

test('opens with time up to the slots, so that steps that take long leave none empty', () => {
  const window = new ClaimWindow()
  window.claimed(window.room)

  for (let tick = 0; tick < 20; tick += 1) window.waited(1_000)
  const underWay = 32

  expect(window.room).toBe(1_000 - underWay)
})

test('is not narrowed by a worker with few slots', () => {
  const window = new ClaimWindow()
  const begin = window.room

  window.waited(1)

  expect(window.room).toBe(begin)
})
