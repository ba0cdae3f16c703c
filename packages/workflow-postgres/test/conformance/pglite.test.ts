import { randomBytes } from 'node:crypto'
import { describeAdapter } from '@belay/testing/conformance'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll } from 'vitest'
import { pglite } from '../../src/pglite.ts'
import { setClock } from '../setup/clock.ts'

// One instance for all: it takes seconds to start. Each test has a schema of its own in it.
let db: PGlite
beforeAll(async () => {
  db = await PGlite.create()
})
afterAll(() => db.close())

describeAdapter('PGlite', {
  async create() {
    const schema = `belay_${randomBytes(6).toString('hex')}`
    const adapter = pglite(db, { schema })
    await adapter.open()
    const { advance } = await setClock((text) => db.exec(text), schema)
    const other = pglite(db, { schema })
    return {
      adapter,
      advance,
      async second() {
        await other.open()
        return other
      },
      async close() {
        await Promise.all([adapter.close(), other.close()])
        await db.exec(`drop schema "${schema}" cascade`)
      },
    }
  },
})
