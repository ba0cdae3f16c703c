import { checkOptions, type OptionTable } from '@belay/workflow/adapter'
import type { MigrationReport } from '../migrate/migrate.ts'
import { schemaName } from '../schema-name.ts'
import { type PostgresSource, postgres } from './postgres.ts'

const OPTIONS = {
  schema: { sets: "the Postgres schema of Belay's tables", takes: schemaName },
} satisfies OptionTable

/**
 * Brings Belay's schema in a database up to this version: for a deployment step. Safe when any number of processes call it at once.
 * `schema` is the Postgres schema of Belay's tables, `'belay'` by default; it is created when it isn't there.
 *
 * @throws BelayError `schema_too_new` when a newer version of Belay has been here; `store_unavailable`; `store_misconfigured`.
 */
export async function migrate(
  source: PostgresSource,
  options: { readonly schema?: string | undefined } = {},
): Promise<MigrationReport> {
  const { schema } = checkOptions('migrate()', options, OPTIONS)
  const adapter = postgres(source, { schema, connectionsMax: 1, listen: false })
  try {
    return await adapter.migrate()
  } finally {
    await adapter.close()
  }
}
