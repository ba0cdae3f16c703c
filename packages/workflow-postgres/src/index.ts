export type { SqlAdapter } from './adapter.ts'
export type {
  DrizzleOverClient,
  DrizzleTransaction,
  KnexTransaction,
  KyselyTransaction,
  PostgresJsTransaction,
  PrismaTransaction,
  QueryTransaction,
  TypeormTransaction,
} from './given/caller-transactions.ts'
export type { MigrationReport, MigrationSettings } from './migrate/migrate.ts'
export type { MigrationPlan } from './migrate/plan.ts'
export { type MigrateOptions, migrate } from './postgres/migrate.ts'
export {
  type PostgresAdapter,
  type PostgresOptions,
  type PostgresSource,
  postgres,
} from './postgres/postgres.ts'
export {
  type PostgresDrizzle,
  type PostgresStepTransaction,
  postgresTransaction,
} from './postgres/step-transaction.ts'
