import { rm } from 'node:fs/promises'
import { type Adapter, BelayError } from '@belay/workflow/adapter'
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
  const adapter = pglite(folder)
  await adapter.open()
  return {
    adapter,
    database: databaseOver(adapter.db),
    description: `an embedded database in ${folder}`,
    close: () => adapter.close(),
  }
}

/** Throws away what is in a folder, unless another process works on it. */
async function discard(folder: string): Promise<void> {
  const former = pglite(folder, { autoMigrate: false })
  try {
    await former.open()
  } catch (error) {
    // Whatever else is wrong with it, it is to be thrown away.
    if (BelayError.is(error) && error.code === 'directory_in_use') throw error
  }
  await former.close()
  await rm(folder, { recursive: true, force: true })
}
