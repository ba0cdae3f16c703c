/**
 * The adapter for PGlite: PostgreSQL inside the process.
 *
 * @module @belay/workflow-postgres/pglite
 */
export * from '../../packages/workflow-postgres/dist/pglite.js'
