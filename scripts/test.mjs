import './require-node.mjs'
import { runTests } from './run-tests.mjs'

// Arguments go on to vitest: `npm test -- saga`.
await runTests(process.argv.slice(2))
