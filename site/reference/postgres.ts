/**
 * The adapter for PostgreSQL, migrations and transactions of steps.
 *
 * @module @belay/workflow-postgres
 */
export * from '../../packages/workflow-postgres/dist/index.js'
