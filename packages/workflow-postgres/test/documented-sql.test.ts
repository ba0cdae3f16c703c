import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'

const PAGES = ['operations.md', 'versions.md']

/** The SQL of a page, with the line it begins at. */
function statementsOf(page: string): readonly (readonly [string, string])[] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map((block) => [
    `${page}:${text.slice(0, block.index).split('\n').length + 1}`,
    block[1]!,
  ])
}

describe.each(servers)('the SQL in the documentation, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await migrate(database.pool)
    const adapter = postgres(database.pool)
    await adapter.open()
    await chain.runThrough(adapter)
    await adapter.close()
  })
  afterAll(() => database.drop())

  it.each(PAGES.flatMap(statementsOf))('%s runs as it stands', async (_place, statement) => {
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      await expect(client.query(statement)).resolves.toMatchObject({ rowCount: expect.any(Number) })
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  it('prunes by hand what the page says: old completed runs, with all that is theirs', async () => {
    const prune = statementsOf('operations.md').find(([, text]) => text.includes('delete from'))![1]
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      const before = await client.query(prune)
      await client.query(`update belay.workflow_runs set finished_at = now() - interval '31 days'`)
      const after = await client.query(prune)
      const { rows } = await client.query('select count(*)::int as left_over from belay.workflow_steps')

      expect([before.rowCount, after.rowCount]).toEqual([0, 1])
      expect(rows).toEqual([{ left_over: 0 }])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})
