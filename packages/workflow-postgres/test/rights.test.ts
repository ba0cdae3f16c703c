import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres, postgresTransaction } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const PAGE = new URL('../../../docs/database.md', import.meta.url)

/** The grants that the page recommends, for a role of another name. */
function documentedGrants(role: string): string {
  const [, sql] = /```sql\n(create role belay_worker[\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
  if (sql === undefined) throw new Error('docs/database.md has no grants any more.')
  return sql.replaceAll('belay_worker', role)
}

const workflow = define('rightful', { version: 1 })
  .step('reserve', {
    transaction: postgresTransaction(),
    run: async ({ tx }) => (await tx.client.query('select 1 as one')).rows[0].one as number,
    compensate: { transaction: postgresTransaction(), run: () => {} },
  })
  .waitForSignal('shipped', { dependsOn: ['reserve'] })
  .step('end', {
    dependsOn: ['shipped'],
    retry: { attempts: 2, initial: 1 },
    run: ({ deps }) => {
      if (deps.shipped === 'lost') throw new Error('lost')
      return 'done'
    },
  })

describe.each(servers)('a role with the documented rights, on $name', ({ url }) => {
  const role = `belay_test_${randomBytes(6).toString('hex')}`
  let database: TestDatabase
  let asRole: string
  beforeAll(async () => {
    database = await createDatabase(url)
    await postgres(database.url).migrate()
    await database.pool.query(documentedGrants(role))
    asRole = database.url.replace('postgres@', `${role}@`)
  })
  afterAll(async () => {
    await database.pool.query(`drop owned by ${role}; drop role ${role}`)
    await database.drop()
  })

  const worker = async () => {
    const engine = createEngine({ adapter: postgres(asRole), workflows: [workflow], tick: '20ms' })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return engine
  }

  it('runs workflows to their end, undoes them, and operates, prunes and diagnoses', async () => {
    const engine = await worker()
    const [good, bad, cancelled] = await engine.runMany(workflow, [{ key: 'good' }, { key: 'bad' }, {}])
    await good!.signal('shipped', 'by mail')
    await bad!.signal('shipped', 'lost')

    expect(await good!.result()).toMatchObject({ reserve: 1, end: 'done' })
    await expect(bad!.result()).rejects.toMatchObject({ status: 'compensated' })
    await cancelled!.pause()
    await cancelled!.resume()
    await cancelled!.cancel({ reason: 'not wanted' })
    await expect(cancelled!.result()).rejects.toMatchObject({ code: 'run_failed' })
    expect((await cancelled!.history()).length).toBeGreaterThan(0)
    expect(await engine.doctor()).toMatchObject({ healthy: true })
    expect(await engine.prune({ olderThan: 0 })).toMatchObject({ pruned: 3 })
  })

  it('starts runs in its own transaction', async () => {
    const pool = new pg.Pool({ connectionString: asRole, max: 3 })
    const engine = createEngine({ adapter: postgres(pool) })
    const client = await pool.connect()
    await client.query('begin')
    const run = await engine.run(workflow, undefined, { tx: client })
    await client.query('commit')
    client.release()

    expect(await run.status()).toMatchObject({ status: 'running' })
    await engine.close()
    await pool.end()
  })

  it('may not change the schema', async () => {
    await expect(postgres(asRole, { schema: 'belay_other' }).migrate()).rejects.toMatchObject({
      code: 'store_misconfigured',
      message: expect.stringMatching(/grant create on database/),
    })
  })
})
