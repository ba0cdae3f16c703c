import { at, root } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

// Arguments go on: `npm run runtimes -- --quick`.
await setUp()
const program = at('tools/packed/src/check-runtimes.mjs')
process.exitCode = await run(process.execPath, [program, ...process.argv.slice(2)], { cwd: root })
