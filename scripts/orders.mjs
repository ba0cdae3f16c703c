import './require-node.mjs'
import { PROOFS } from './read-proofs.mjs'
import { runTests } from './run-tests.mjs'

// More than `npm run proofs -- orders`: both of two callers are stopped, or one in the middle of a long statement. ORDERS=all runs them on every server.
process.env['ORDERS'] ??= 'both'
await runTests([...(PROOFS['orders']?.files ?? []), ...process.argv.slice(2)])
