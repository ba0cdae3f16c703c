import './require-node.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

await setUp()

// One run over the whole workspace, so that it ends with one summary. Arguments go on to vitest: `npm test -- saga`.
const vitest = at('node_modules/vitest/vitest.mjs')
process.exitCode = await run(process.execPath, [vitest, 'run', ...process.argv.slice(2)], { cwd: root })
