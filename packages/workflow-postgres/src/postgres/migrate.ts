import { checkOptions, type OptionTable, wholeNumber, yesOrNo } from '@belay/workflow/adapter'
import {
  LOCK_TIMEOUT_MS,
  LOCK_TRIES_MAX,
  type MigrationReport,
  type MigrationSettings,
} from '../migrate/migrate.ts'
import type { MigrationPlan } from '../migrate/plan.ts'
import { schemaName } from '../schema-name.ts'
import { type PostgresSource, postgres } from './postgres.ts'

export interface MigrateOptions extends MigrationSettings {
  /** The Postgres schema of Belay's tables, created when it isn't there. Default `'belay'`. */
  readonly schema?: string | undefined
  /** Only tell what would be done: the database is read, and not changed. Default false. */
  readonly dryRun?: boolean | undefined
}

const OPTIONS = {
  schema: { sets: "the Postgres schema of Belay's tables", takes: schemaName },
  dryRun: { sets: 'whether migrations are only shown', takes: yesOrNo, default: false },
  lockTimeoutMs: {
    sets: 'how many milliseconds a statement of a migration waits for a lock',
    takes: wholeNumber(10, 600_000),
    default: LOCK_TIMEOUT_MS,
  },
  lockTriesMax: {
    sets: 'how often a migration begins that waits for a lock',
    takes: wholeNumber(1, 10_000),
    default: LOCK_TRIES_MAX,
  },
  evenIfWorkersRun: {
    sets: 'whether a migration that stops older code is applied while workers run',
    takes: yesOrNo,
    default: false,
  },
} satisfies OptionTable

/**
 * Brings Belay's schema in a database up to this version: for a deployment step. Safe when any number of processes call it at once, and while
 * workers run, unless a migration says that it stops older code (docs/upgrading.md). With `dryRun` it returns what is pending, as SQL.
 *
 * @throws BelayError `schema_too_new` when a newer version of Belay has been here that does not allow this one; `store_contended` when
 * somebody kept a lock; `workers_running` when it would stop workers that run; `store_unavailable`; `store_misconfigured`.
 */
export function migrate(
  source: PostgresSource,
  options: MigrateOptions & { readonly dryRun: true },
): Promise<MigrationPlan>
export function migrate(
  source: PostgresSource,
  options?: MigrateOptions & { readonly dryRun?: false | undefined },
): Promise<MigrationReport>
export async function migrate(
  source: PostgresSource,
  options: MigrateOptions = {},
): Promise<MigrationReport | MigrationPlan> {
  const { schema, dryRun, ...settings } = checkOptions('migrate()', options, OPTIONS)
  const adapter = postgres(source, { schema, connectionsMax: 1, listen: false })
  try {
    return await (dryRun ? adapter.planMigration() : adapter.migrate(settings))
  } finally {
    await adapter.close()
  }
}
