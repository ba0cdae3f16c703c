import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const PAGE = new URL('../../../docs/deployment.md', import.meta.url)
const ROLES = ['owner', 'worker', 'reader'] as const

const workflow = define('deployed', { version: 1 }).step('one', { run: () => 1 })

/** The statements of the page, for roles of other names. */
function documentedRoles(suffix: string): string {
  const [, sql] = /```sql\n(create role belay_owner[\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
  if (sql === undefined) throw new Error('docs/deployment.md has no roles any more.')
  return sql.replaceAll(/belay_(owner|worker|reader)/g, (role) => `${role}_${suffix}`)
}

describe.each(servers)(
  'the roles of the deployment page, created before the first migration, on $name',
  ({ url }) => {
    const suffix = randomBytes(6).toString('hex')
    let database: TestDatabase
    const as = (role: (typeof ROLES)[number]) => database.url.replace('postgres@', `belay_${role}_${suffix}@`)
    beforeAll(async () => {
      database = await createDatabase(url)
      await database.pool.query(documentedRoles(suffix))
    })
    afterAll(async () => {
      for (const role of ROLES) {
        await database.pool.query(
          `drop owned by belay_${role}_${suffix} cascade; drop role belay_${role}_${suffix}`,
        )
      }
      await database.drop()
    })

    it('let the owner migrate, the worker work and the reader only read', async () => {
      await migrate(as('owner'))
      const engine = createEngine({ adapter: postgres(as('worker')), workflows: [workflow], tick: '20ms' })
      onTestFinished(() => engine.close({ timeout: 0 }))
      await engine.start()
      const run = await engine.run(workflow)
      expect(await run.result()).toEqual({ one: 1 })

      const reader = new pg.Client({ connectionString: as('reader') })
      await reader.connect()
      onTestFinished(() => reader.end())
      const { rows } = await reader.query('select name, status from belay.workflow_step_overview')
      expect(rows).toEqual([{ name: 'one', status: 'completed' }])
      await expect(reader.query('delete from belay.workflow_runs')).rejects.toMatchObject({ code: '42501' })
      await expect(migrate(as('worker'))).resolves.toEqual({ applied: [] })
    })
  },
)
