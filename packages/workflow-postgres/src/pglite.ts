export type { SqlAdapter } from './adapter.ts'
export type { DrizzleTransaction, QueryTransaction } from './given/caller-transactions.ts'
export type { MigrationReport, MigrationSettings } from './migrate/migrate.ts'
export type { MigrationPlan } from './migrate/plan.ts'
export { type PgliteAdapter, type PgliteOptions, type PgliteSource, pglite } from './pglite/adapter.ts'
export {
  type PgliteDrizzle,
  type PgliteStepTransaction,
  pgliteTransaction,
} from './pglite/step-transaction.ts'
