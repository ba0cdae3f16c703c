import './require-node.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

// Arguments go on to vitest.
await setUp()
const vitest = at('node_modules/vitest/vitest.mjs')
const given = ['--root', at('tools/packed'), ...process.argv.slice(2)]
process.exitCode = await run(process.execPath, [vitest, 'run', ...given], { cwd: root })
