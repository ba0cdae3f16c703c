import { expect, test } from 'vitest'
import { systemRuntime } from '../../src/engine/base/runtime.ts'

test('ids made within one moment ascend, and none is made twice', () => {
  const ids = Array.from({ length: 20_000 }, () => systemRuntime.newId())

  expect(ids).toEqual([...ids].sort())
  expect(new Set(ids).size).toBe(ids.length)
})

test('ids are uuids of version 7 that begin with the time', () => {
  const before = Date.now()
  const id = systemRuntime.newId()

  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  expect(ms).toBeGreaterThanOrEqual(before)
  expect(ms).toBeLessThanOrEqual(Date.now())
})
