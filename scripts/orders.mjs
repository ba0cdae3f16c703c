import './require-node.mjs'
import { runTests } from './run-tests.mjs'

// What `npm test` leaves out: the orders in which both of two callers are stopped, or one in the middle of a long statement. ORDERS=all runs them on every server.
process.env['ORDERS'] ??= 'both'
await runTests(['packages/workflow-postgres/test/interleavings', ...process.argv.slice(2)])
