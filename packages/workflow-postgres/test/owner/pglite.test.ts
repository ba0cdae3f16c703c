import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { ownerCases } from '../../../testing/test/owner/cases/index.ts'
import { pgliteHarness } from '../store/harness.ts'
import { benchOver } from './host.ts'

describe('owners over the store in PGlite', () => {
  let instance: PGlite
  beforeAll(async () => {
    instance = await PGlite.create()
  })
  afterAll(() => instance.close())

  const { work, waits, operators, families } = ownerCases
  // Its one session is a transaction’s alone while that is open.
  const cases = Object.entries({ ...work, ...waits, ...operators, ...families }).filter(
    ([name]) => !name.includes('in an open transaction'),
  )
  it.each(cases)('%s', async (_name, act) => {
    const given = await benchOver(pgliteHarness(() => instance))
    try {
      await act(given)
    } finally {
      await given.close()
    }
  })
})
