import './require-node.mjs'
import { runTests } from './run-tests.mjs'

// What `npm test` leaves out: kills at every second call of the store. KILL_POINTS=all kills at every call.
process.env['KILL_POINTS'] ??= 'half'
await runTests(['packages/workflow-postgres/test/kill-points', ...process.argv.slice(2)])
