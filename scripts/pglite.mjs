import './require-node.mjs'
import { runTests } from './run-tests.mjs'

// What `npm test` leaves out: every conformance case in PGlite, of which it runs every third.
process.env['PGLITE_CASES'] = 'all'
await runTests(['packages/workflow-postgres/test/conformance/pglite.test.ts', ...process.argv.slice(2)])
