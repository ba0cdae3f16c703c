import {
  createEngine,
  define,
  type Engine,
  type EngineOptions,
  type RunHandle,
  type SerialisedError,
  type WorkflowDefinition,
} from '@belay/workflow'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest'
import { type PostgresStepTransaction, postgres, postgresTransaction } from '../../src/index.ts'
import { createDatabase, type TestDatabase } from '../setup/database.ts'

// No unique key: a row written twice appears twice.
const CREATE_LEDGER = 'create table ledger (key text not null, amount int not null)'

export const ledger = pgTable('ledger', { key: text('key').notNull(), amount: integer('amount').notNull() })

/** A database with a ledger, and engines on it, for the tests of the calling suite. */
export function withLedger(serverUrl: string) {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(serverUrl)
    await database.pool.query(CREATE_LEDGER)
    await postgres(database.pool).migrate()
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await database.pool.query('truncate ledger')
  })
  return {
    get database() {
      return database
    },
    /** Keys of the ledger's rows, in order. */
    async entries(): Promise<readonly string[]> {
      return (await database.pool.query('select key from ledger order by key')).rows.map(({ key }) => key)
    },
    /** A started engine on the database, or on the given adapter. */
    async worker(workflow: WorkflowDefinition, options: Partial<EngineOptions> = {}): Promise<Engine> {
      const adapter = options.adapter ?? postgres(database.url)
      const engine = createEngine({ workflows: [workflow], lease: '2s', ...options, adapter })
      onTestFinished(() => engine.close({ timeout: 0 }))
      await engine.start()
      return engine
    },
  }
}

/** Records a key in the ledger. */
export function debit(tx: PostgresStepTransaction, key: string) {
  return tx.client.query('insert into ledger values ($1, 1)', [key])
}

/** A workflow with one step that does this work in its transaction, and is tried once. */
export function once(name: string, work: (tx: PostgresStepTransaction, key: string) => unknown) {
  return define(name, { version: 1 }).step('debit', {
    transaction: postgresTransaction(),
    retry: false,
    run: async ({ tx, idempotencyKey }) => {
      await work(tx, idempotencyKey)
    },
  })
}

/** The error that ended the first step of a failing run. */
export async function errorOf(run: RunHandle<unknown>): Promise<SerialisedError> {
  const failure: unknown = await run.result().catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'run_failed' })
  return (await run.status()).steps[0]!.error!
}
