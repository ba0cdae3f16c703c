import { startPostgres } from '@belay/postgres-server'
import type { BelayError } from '@belay/workflow/adapter'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../src/index.ts'
import { migrateSchema } from '../src/migrate/migrate.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { connectionTo } from './setup/connection.ts'
import { NEWEST, nextMigration } from './setup/next-release.ts'

const column = nextMigration(NEWEST + 1, 'ALTER TABLE "belay"."workflow_runs" ADD COLUMN "region" text;')

describe.skipIf(process.env['DATABASE_URL'] !== undefined).each([14, 18] as const)(
  'a migration behind prepared transactions on PostgreSQL %i (skipped on a given server: it needs a setting)',
  (major) => {
    /** A server that allows prepared transactions, with Belay's schema. */
    async function given() {
      const server = await startPostgres({
        major,
        inMemory: true,
        settings: { max_prepared_transactions: '4' },
      })
      const pool = new pg.Pool({ connectionString: server.url, max: 4 })
      pool.on('error', () => {})
      onTestFinished(async () => {
        await pool.end()
        await server.stop()
      })
      await migrate(server.url)
      /** A transaction that reads runs. Its savepoint has an id of its own, which must not count as another transaction. */
      const prepare = async (name: string) => {
        const client = await pool.connect()
        await client.query(
          `begin; select count(*) from belay.workflow_runs; select pg_current_xact_id(); savepoint inner_one;
           insert into belay.workflow_history (run_id, at, action) values ('00000000-0000-7000-8000-000000000000', now(), 'retry')`,
        )
        await client.query(`prepare transaction '${name}'`)
        client.release()
      }
      const migrateTo = (lockTriesMax: number) =>
        migrateSchema(connectionTo({ pool }, 'belay'), 'belay', { lockTimeoutMs: 100, lockTriesMax }, [
          ...MIGRATIONS,
          column,
        ])
      const refusal = () =>
        migrateTo(2).then(
          () => expect.fail('was expected to give up'),
          (error: BelayError) => error,
        )
      return { server, pool, prepare, migrateTo, refusal }
    }

    it('names them, and how to end them', async () => {
      const { pool, prepare, migrateTo, refusal } = await given()
      await prepare('order 4711')
      await prepare('order 4712')

      const error = await refusal()

      expect(error).toMatchObject({ code: 'store_contended' })
      expect(error.message).toMatch(
        /Held by: the prepared transaction 'order 4711' \(user postgres, in a transaction for \d+ s\); the prepared transaction 'order 4712' \(user postgres, in a transaction for \d+ s\)\. End those transactions \(rollback prepared '<name>', or commit prepared\)/,
      )
      expect(error.message).not.toContain('pg_terminate_backend')
      await pool.query(`rollback prepared 'order 4711'`)
      await pool.query(`rollback prepared 'order 4712'`)
      expect(await migrateTo(1)).toEqual({ applied: [column.tag] })
    })

    it('names them after a restart of the server, which they outlive', async () => {
      const { server, pool, prepare, migrateTo, refusal } = await given()
      await prepare('order 4711')
      await server.restart()

      const error = await refusal()

      expect(error.message).toContain(`Held by: the prepared transaction 'order 4711' (`)
      await pool.query(`rollback prepared 'order 4711'`)
      expect(await migrateTo(1)).toEqual({ applied: [column.tag] })
    })
  },
)
