import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { describeStore } from '../../../testing/src/conformance/store/describe.ts'
import { pgliteHarness } from './harness.ts'

describe('the store in PGlite', () => {
  let instance: PGlite
  beforeAll(async () => {
    instance = await PGlite.create()
  })
  afterAll(() => instance.close())

  describeStore(
    pgliteHarness(() => instance),
    { it },
  )
})
