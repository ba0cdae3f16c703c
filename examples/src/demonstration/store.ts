import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Adapter } from '@belay/workflow/adapter'
import { postgres } from '@belay/workflow-postgres'
import { pglite } from '@belay/workflow-postgres/pglite'
import pg from 'pg'
import { type Database, databaseOver } from '../database.ts'

/** One database, seen twice: by Belay as an adapter, by the shop and the atlas as a place for their own tables. */
export interface Store {
  readonly adapter: Adapter
  readonly database: Database
  readonly description: string
  /** Idempotent. */
  close(): Promise<void>
}

/** Opens a PostgreSQL server. Throws Belay's errors for a wrong url, password or database. */
export async function openPostgres(url: string): Promise<Store> {
  const adapter = postgres(url, { autoMigrate: true })
  await adapter.open()
  const pool = new pg.Pool({ connectionString: url, max: 8, application_name: 'belay examples' })
  // Without a listener, a dropped idle connection would end the process. The pool replaces it by itself.
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

/** Opens the embedded database in a folder. A folder that another process has open is an error, also when `fresh`. */
export async function openEmbedded(folder: string, { fresh }: { readonly fresh: boolean }): Promise<Store> {
  if (fresh) await discard(folder)
  await mkdir(dirname(folder), { recursive: true })
  const adapter = pglite(folder)
  await adapter.open()
  return {
    adapter,
    database: databaseOver(adapter.db),
    description: `an embedded database in ${folder}`,
    close: () => adapter.close(),
  }
}

async function discard(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}
