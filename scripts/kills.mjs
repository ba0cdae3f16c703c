import './require-node.mjs'
import { PROOFS } from './read-proofs.mjs'
import { runTests } from './run-tests.mjs'

// More than `npm run proofs -- kills`: kills at every second call of the store, and at more lines of what a worker prints. KILL_POINTS=all kills at every call.
process.env['KILL_POINTS'] ??= 'half'
await runTests([...(PROOFS['kills']?.files ?? []), ...process.argv.slice(2)])
