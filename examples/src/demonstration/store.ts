import { rm } from 'node:fs/promises'
import { type Adapter, BelayError } from '@belay/workflow/adapter'
import { postgres } from '@belay/workflow-postgres'
import { pglite } from '@belay/workflow-postgres/pglite'
import pg from 'pg'
import { type Database, databaseOver } from '../database.ts'

/** One database with two uses: an adapter for Belay, and tables for the shop and the atlas. */
export interface Store {
  readonly adapter: Adapter
  readonly database: Database
  readonly description: string
  /** Idempotent. */
  close(): Promise<void>
}

/** Opens a PostgreSQL server. Throws Belay's errors for a wrong URL, password or database. */
export async function openPostgres(url: string): Promise<Store> {
  const adapter = postgres(url, { autoMigrate: true })
  await adapter.open()
  const pool = new pg.Pool({ connectionString: url, max: 8, application_name: 'belay examples' })
  // Without a listener, a dropped idle connection would end the process. The pool replaces the connection itself.
  pool.on('error', () => {})
  let ended: Promise<void> | undefined
  return {
    adapter,
    database: databaseOver(pool),
    description: 'the PostgreSQL of DATABASE_URL',
    async close() {
      ended ??= pool.end()
      await Promise.all([ended, adapter.close()])
    },
  }
}

/** Opens the embedded database in a folder. Throws if another process has the folder open, also when `fresh`. */
export async function openEmbedded(folder: string, { fresh }: { readonly fresh: boolean }): Promise<Store> {
  if (fresh) await discard(folder)
  const adapter = pglite(folder)
  await adapter.open()
  return {
    adapter,
    database: databaseOver(adapter.db),
    description: `an embedded database in ${folder}`,
    close: () => adapter.close(),
  }
}

/** Deletes the database in a folder, unless another process uses it. */
async function discard(folder: string): Promise<void> {
  const former = pglite(folder, { autoMigrate: false })
  try {
    await former.open()
  } catch (error) {
    // Whatever else is wrong with it, it will be deleted.
    if (BelayError.is(error) && error.code === 'directory_in_use') throw error
  }
  await former.close()
  await rm(folder, { recursive: true, force: true })
}
