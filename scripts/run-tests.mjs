import { at, root } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

/**
 * Sets the repository up and runs vitest once, over the whole workspace, so that it ends with one summary.
 * @param {readonly string[]} args
 */
export async function runTests(args) {
  await setUp()
  const vitest = at('node_modules/vitest/vitest.mjs')
  process.exitCode = await run(process.execPath, [vitest, 'run', ...args], { cwd: root })
}
