import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inSchema } from '../src/connection/statement.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { exportedStatements } from './setup/statements.ts'

describe('the statements', () => {
  it('have unique names that Postgres does not truncate', async () => {
    const names = (await exportedStatements()).map(({ name }) => name)

    expect(names.length).toBeGreaterThan(20)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(`belay_${name}_${'0'.repeat(16)}`.length).toBeLessThanOrEqual(63)
  })

  it('name the schema wherever they name a table', async () => {
    for (const { name, text } of await exportedStatements()) {
      expect(inSchema(text, 'other'), `statement ${name}`).not.toMatch(
        /belay\.|"belay"|(?<!"other"\."?)\bworkflow_/,
      )
    }
  })

  it('never filter on a status that a run is only shown with', async () => {
    for (const { name, text } of await exportedStatements()) {
      expect(text, `statement ${name}`).not.toMatch(
        /'scheduled'|\b(r|live)\.status (not )?in \([^)]*'waiting'/,
      )
    }
  })
})

describe.each(servers)('the statements on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it('are all accepted by the server for the migrated schema', async () => {
    const { schema } = await createStore(database)
    const statements = await exportedStatements()

    const refused: string[] = []
    for (const { name, text } of statements) {
      await database.pool
        .query(`prepare check_${name} as ${inSchema(text, schema)}`)
        .catch((error: Error) => refused.push(`${name}: ${error.message}`))
    }

    expect(refused).toEqual([])
  })
})
