import './require-node.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

// The pictures of docs/dashboard.md and docs/playground.md, of the pages as they are built now.
await setUp()
const files = ['packages/graph-view', 'packages/dashboard', 'playground'].map(
  (part) => `${part}/test/pictures-of-screens`,
)
const program = [at('node_modules/vitest/vitest.mjs'), 'run', ...files]
process.exitCode = await run(process.execPath, program, {
  cwd: root,
  env: { ...process.env, BELAY_SCREENSHOTS: '1' },
})
