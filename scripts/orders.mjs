import './require-node.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

await setUp()

// What `npm test` leaves out: the orders in which both of two callers are stopped. ORDERS=all runs them on every server.
process.env['ORDERS'] ??= 'both'
const tests = 'packages/workflow-postgres/test/interleavings'
const vitest = at('node_modules/vitest/vitest.mjs')
process.exitCode = await run(process.execPath, [vitest, 'run', tests, ...process.argv.slice(2)], {
  cwd: root,
})
