import { createPglite } from '@belay/postgres-server'
import { createEngine } from '@belay/workflow'
import { describe, it, onTestFinished } from 'vitest'
import { expectRepairs, parkedWorkflow } from '../../testing/test/engine/repaired-steps.ts'
import { postgres } from '../src/index.ts'
import { pglite } from '../src/pglite.ts'
import { createDatabase, servers } from './setup/database.ts'

async function onPostgres(url: string) {
  const database = await createDatabase(url)
  onTestFinished(() => database.drop())
  return postgres(database.url, { autoMigrate: true })
}

async function onPglite() {
  const db = await createPglite()
  onTestFinished(() => db.close())
  return pglite(db, { autoMigrate: true })
}

const STORES = [
  ...servers.map(({ name, url }) => ({ name, open: () => onPostgres(url) })),
  { name: 'PGlite', open: onPglite },
]

describe.each(STORES)('verbs that repair a step on $name', ({ open }) => {
  it('answer what became of it and what comes next, and an export has all of it', async () => {
    const parked = parkedWorkflow()
    const engine = createEngine({
      ...{ adapter: await open(), workflows: [parked.workflow], attempts: 'keep', tick: '50ms' },
      logger: false,
    })
    await engine.start()

    await expectRepairs(engine, parked, (promise) => promise)

    await engine.close()
  })
})
