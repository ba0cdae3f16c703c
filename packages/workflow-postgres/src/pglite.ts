export type { SqlAdapter } from './adapter.ts'
export type { MigrationReport } from './migrate/migrate.ts'
export { type PgliteAdapter, type PgliteOptions, type PgliteSource, pglite } from './pglite/adapter.ts'
