import './require-node.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

// The pictures of docs/playground.md, of the page as it is built now.
await setUp()
const program = [at('node_modules/vitest/vitest.mjs'), 'run', 'playground/test/pictures-of-screens']
process.exitCode = await run(process.execPath, program, {
  cwd: root,
  env: { ...process.env, BELAY_SCREENSHOTS: '1' },
})
