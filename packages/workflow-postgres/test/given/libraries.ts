import type { CallerTransaction } from '@belay/workflow'
import { PrismaPg } from '@prisma/adapter-pg'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import makeKnex from 'knex'
import { CamelCasePlugin, Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgresJs from 'postgres'
import { DataSource } from 'typeorm'
import { PrismaClient } from '../fixtures/prisma/generated/client.ts'

type Rows = readonly Readonly<Record<string, unknown>>[]

/** What a test does in a transaction of a library. */
export interface Within {
  readonly tx: CallerTransaction
  /** Inserts an order with this id, as applications do with the library. */
  insert(id: number): PromiseLike<unknown>
  query(text: string): PromiseLike<Rows>
}

export interface Library {
  /** Opens a transaction. Commits it, or rolls it back if `work` throws. */
  begin<Result>(work: (within: Within) => Promise<Result>): Promise<Result>
  /** What the library has that is no transaction, with what the refusal says. */
  readonly unsuitable: readonly (readonly [unknown, RegExp])[]
  close(): Promise<unknown>
}

/** The libraries of the application, over at most two connections to a database with a table `orders (id int)`. */
export const LIBRARIES: Readonly<Record<string, (url: string) => Library>> = {
  'postgres.js': ofPostgresJs((sql, work) => sql.begin(work)),
  'a savepoint of postgres.js': ofPostgresJs((sql, work) => sql.begin((outer) => outer.savepoint(work))),
  'a reserved connection of postgres.js': ofPostgresJs(async (sql, work) => {
    const reserved = await sql.reserve()
    const end = async (verb: string) => {
      await reserved.unsafe(verb)
      reserved.release()
    }
    await reserved`begin`
    try {
      const result = await work(reserved)
      await end('commit')
      return result
    } catch (error) {
      await end('rollback')
      throw error
    }
  }),
  'drizzle over postgres.js': (url) => {
    const sql = postgresJs(url, QUIET)
    const db = drizzle(sql)
    return {
      begin: (work) =>
        db.transaction((tx) =>
          work({
            tx,
            insert: (id) => tx.execute(drizzleSql`insert into orders values (${id})`),
            query: (text) => tx.execute(drizzleSql.raw(text)),
          }),
        ),
      unsuitable: [
        [db, /is the sql of postgres.js itself, inside what was given, not the one that sql.begin/],
      ],
      close: () => sql.end(),
    }
  },
  Kysely: ofKysely((db, work) => db.transaction().execute(work)),
  'Kysely with plugins': ofKysely((db, work) =>
    db.withPlugin(new CamelCasePlugin()).transaction().execute(work),
  ),
  'a controlled transaction of Kysely': ofKysely(async (db, work) => {
    const tx = await db.startTransaction().execute()
    try {
      const result = await work(tx)
      await tx.commit().execute()
      return result
    } catch (error) {
      await tx.rollback().execute()
      throw error
    }
  }),
  Knex: ofKnex((knex, work) => knex.transaction(work)),
  'a nested transaction of Knex': ofKnex((knex, work) =>
    knex.transaction((outer) => outer.transaction(work)),
  ),
  Prisma: (url) => {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 2 }) })
    return {
      begin: (work) =>
        prisma.$transaction((tx) =>
          work({
            tx,
            insert: (id) => tx.order.create({ data: { id } }),
            query: (text) =>
              /^set /.test(text) ? tx.$executeRawUnsafe(text).then(() => []) : tx.$queryRawUnsafe<Rows>(text),
          }),
        ),
      unsuitable: [
        [prisma, /is a Prisma client, not the transaction/],
        [prisma.$extends({}), /is a Prisma client, not the transaction/],
      ],
      close: () => prisma.$disconnect(),
    }
  },
  'the EntityManager of TypeORM': ofTypeorm(
    (source, work) => source.transaction((manager) => work(manager, (text) => manager.query(text))),
    (source) => [
      [source, /is a DataSource of TypeORM, not a transaction/],
      [source.manager, /is an EntityManager of TypeORM outside a transaction/],
    ],
  ),
  'a QueryRunner of TypeORM': ofTypeorm(
    async (source, work) => {
      const runner = source.createQueryRunner()
      await runner.startTransaction()
      try {
        const result = await work(runner, (text) => runner.query(text))
        await runner.commitTransaction()
        return result
      } catch (error) {
        await runner.rollbackTransaction()
        throw error
      } finally {
        await runner.release()
      }
    },
    (source) => [[source.createQueryRunner(), /is a QueryRunner of TypeORM on which no transaction is open/]],
  ),
  'an object with query()': (url) => {
    const pool = poolOf(url)
    return {
      async begin(work) {
        const client = await pool.connect()
        // Another driver than pg, as far as Belay can see, with pg's own parsers of values.
        const query = (text: string, values?: unknown[]) => client.query(text, values)
        try {
          await client.query('begin')
          const tx = { query }
          const rows = async (text: string) => (await query(text)).rows
          const result = await work({
            tx,
            insert: (id) => query('insert into orders values ($1)', [id]),
            query: rows,
          })
          await client.query('commit')
          return result
        } catch (error) {
          await client.query('rollback')
          throw error
        } finally {
          client.release()
        }
      },
      unsuitable: [[{ query: (text: string) => pool.query(text) }, /on which no transaction is open/]],
      close: () => pool.end(),
    }
  },
}

const QUIET = { max: 2, onnotice: () => {} }

type Sql = ReturnType<typeof postgresJs>
type SqlWithin = postgresJs.TransactionSql | postgresJs.ReservedSql

function ofPostgresJs(
  begin: <Result>(sql: Sql, work: (tx: SqlWithin) => Promise<Result>) => Promise<unknown>,
) {
  return (url: string): Library => {
    const sql = postgresJs(url, QUIET)
    return {
      begin: async <Result>(work: (within: Within) => Promise<Result>) =>
        (await begin(sql, (tx) =>
          work({
            tx,
            insert: (id) => tx`insert into orders values (${id})`,
            query: (text) => tx.unsafe(text),
          }),
        )) as Result,
      unsuitable: [[sql, /is the sql of postgres.js itself, not the one that sql.begin/]],
      close: () => sql.end(),
    }
  }
}

interface Tables {
  orders: { id: number }
}

function ofKysely(
  begin: <Result>(
    db: Kysely<Tables>,
    work: (tx: import('kysely').Transaction<Tables>) => Promise<Result>,
  ) => Promise<Result>,
) {
  return (url: string): Library => {
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: poolOf(url) }) })
    return {
      begin: (work) =>
        begin(db, (tx) =>
          work({
            tx,
            insert: (id) => tx.insertInto('orders').values({ id }).execute(),
            query: async (text) => (await kyselySql.raw<Rows[number]>(text).execute(tx)).rows,
          }),
        ),
      unsuitable: [[db, /is a Kysely database, not a transaction in it/]],
      close: () => db.destroy(),
    }
  }
}

type KnexOf = ReturnType<typeof makeKnex>

function ofKnex(
  begin: <Result>(
    knex: KnexOf,
    work: (tx: import('knex').Knex.Transaction) => Promise<Result>,
  ) => Promise<Result>,
) {
  return (url: string): Library => {
    const knex = makeKnex({ client: 'pg', connection: url, pool: { min: 0, max: 2 } })
    return {
      begin: (work) =>
        begin(knex, (tx) =>
          work({
            tx,
            insert: (id) => tx('orders').insert({ id }),
            query: async (text) => (await tx.raw(text)).rows,
          }),
        ),
      unsuitable: [[knex, /is Knex itself, not a transaction of it/]],
      close: () => knex.destroy(),
    }
  }
}

function ofTypeorm(
  begin: <Result>(
    source: DataSource,
    work: (tx: CallerTransaction, query: (text: string) => Promise<Rows>) => Promise<Result>,
  ) => Promise<Result>,
  unsuitable: (source: DataSource) => Library['unsuitable'],
) {
  return (url: string): Library => {
    const source = new DataSource({ type: 'postgres', url, poolSize: 2 })
    const ready = source.initialize()
    return {
      async begin(work) {
        await ready
        return begin(source, (tx, query) =>
          work({ tx, insert: (id) => query(`insert into orders values (${id})`), query }),
        )
      },
      unsuitable: unsuitable(source),
      close: async () => (await ready).destroy(),
    }
  }
}

function poolOf(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  // A client that is lent has no other listener when a test cuts its connection.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
