import { cpus, totalmem } from 'node:os'
import { withClient } from './database.ts'

/** Where and with which versions the figures were measured: they mean little without. */
export interface Machine {
  readonly machine: string
  readonly versions: string
  readonly settings: string
  readonly date: string
}

const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size']

export async function describeMachine(url: string): Promise<Machine> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ version: string; settings: string }>(
      `select current_setting('server_version') as version, string_agg(name || '=' || current_setting(name), ' ' order by name) as settings
       from pg_settings where name = any ($1)`,
      [SETTINGS],
    ),
  )
  const memoryGiB = Math.round(totalmem() / 1024 ** 3)
  return {
    machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${memoryGiB} GiB`,
    versions: `node ${process.versions.node}, PostgreSQL ${rows[0]?.version}`,
    settings: rows[0]?.settings ?? '',
    date: new Date().toISOString().slice(0, 10),
  }
}
