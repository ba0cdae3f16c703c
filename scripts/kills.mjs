import './require-node.mjs'
import { runTests } from './run-tests.mjs'

// What `npm test` leaves out: kills at every second call of the store, and at more lines of what a worker prints. KILL_POINTS=all kills at every call.
process.env['KILL_POINTS'] ??= 'half'
await runTests([
  'packages/workflow-postgres/test/kill-points',
  'packages/workflow-postgres/test/processes/crash',
  'packages/workflow-postgres/test/processes/ledger',
  ...process.argv.slice(2),
])
