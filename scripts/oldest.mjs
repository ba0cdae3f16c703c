import './require-node.mjs'
import { runTests } from './run-tests.mjs'

// What `npm test` and `npm run proofs` leave out: all tests that name their server, on the oldest one that Belay supports.
process.env['POSTGRES_MAJOR'] = '14'
await runTests(['--project', '@belay/workflow-postgres', '-t', 'PostgreSQL 14', ...process.argv.slice(2)])
