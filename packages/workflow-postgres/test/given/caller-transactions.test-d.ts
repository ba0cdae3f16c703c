import type { CallerTransaction, Engine, WorkflowDefinition } from '@belay/workflow'
import type { PGlite, Transaction as PgliteTransaction } from '@electric-sql/pglite'
import type { NodePgDatabase, NodePgTransaction } from 'drizzle-orm/node-postgres'
import type { PgliteTransaction as DrizzlePgliteTransaction } from 'drizzle-orm/pglite'
import type { PostgresJsDatabase, PostgresJsTransaction } from 'drizzle-orm/postgres-js'
import type { Knex } from 'knex'
import type { ControlledTransaction, Kysely, Transaction as KyselyTransaction } from 'kysely'
import type { Client, ClientBase, Pool, PoolClient } from 'pg'
import type { ReservedSql, Sql, TransactionSql } from 'postgres'
import type { DataSource, EntityManager, QueryRunner } from 'typeorm'
import { describe, expectTypeOf, it } from 'vitest'
import type { PostgresStepTransaction } from '../../src/index.ts'
import type { PgliteStepTransaction } from '../../src/pglite.ts'
import type { Prisma, PrismaClient } from '../fixtures/prisma/generated/client.ts'

type None = Record<string, never>
interface Tables {
  orders: { id: number }
}

declare const engine: Engine
declare const workflow: WorkflowDefinition
declare const pool: Pool
declare const lite: PGlite
declare const prisma: PrismaClient
declare const sql: Sql
declare const knex: Knex
declare const kysely: Kysely<Tables>
declare const source: DataSource
declare const overPool: NodePgDatabase & { $client: Pool }
declare const overSql: PostgresJsDatabase & { $client: Sql }

describe('tx', () => {
  it('takes the transactions of all libraries, and of steps', () => {
    expectTypeOf<
      | Client
      | ClientBase
      | PoolClient
      | NodePgTransaction<None, None>
      | (NodePgDatabase & { $client: PoolClient })
      | PostgresJsTransaction<None, None>
      | DrizzlePgliteTransaction<None, None>
      | PgliteTransaction
      | TransactionSql
      | ReservedSql
      | KyselyTransaction<Tables>
      | ControlledTransaction<Tables>
      | Knex.Transaction
      | Prisma.TransactionClient
      | EntityManager
      | QueryRunner
      | PostgresStepTransaction
      | PgliteStepTransaction
    >().toExtend<CallerTransaction>()
  })

  it('takes an object with a query() of one’s own', () => {
    const tx = { query: async (text: string, values: (string | null)[]) => ({ rows: [text, ...values] }) }
    engine.run(workflow, undefined, { tx })
    engine.signal('id', 'paid', null, { tx })
    engine.runMany(workflow, [], { tx })
  })

  it('does not take what is no transaction', () => {
    // @ts-expect-error a Pool
    engine.run(workflow, undefined, { tx: pool })
    // @ts-expect-error a database of PGlite
    engine.run(workflow, undefined, { tx: lite })
    // @ts-expect-error a client of Prisma
    engine.run(workflow, undefined, { tx: prisma })
    // @ts-expect-error the sql of postgres.js itself
    engine.run(workflow, undefined, { tx: sql })
    // @ts-expect-error Knex itself
    engine.run(workflow, undefined, { tx: knex })
    // @ts-expect-error a database of Kysely
    engine.run(workflow, undefined, { tx: kysely })
    // @ts-expect-error a DataSource of TypeORM
    engine.run(workflow, undefined, { tx: source })
    // @ts-expect-error drizzle over a Pool
    engine.run(workflow, undefined, { tx: overPool })
    // @ts-expect-error drizzle over postgres.js
    engine.run(workflow, undefined, { tx: overSql })
    // @ts-expect-error a query() without rows
    engine.run(workflow, undefined, { tx: { query: async () => [] } })
    // @ts-expect-error no object
    engine.run(workflow, undefined, { tx: 'tx' })
  })
})
