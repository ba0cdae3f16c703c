import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { at } from './root.mjs'
import { run } from './run.mjs'

/**
 * Installs a folder that is a workspace of its own, unless exactly this is installed already. Nobody who runs or tests Belay needs it.
 * @param {string} folder
 * @param {string} what what is installed, and how large it is
 */
export async function installApart(folder, what) {
  const stamp = at(folder, 'node_modules/.belay-installed')
  const wanted = createHash('sha256')
    .update(readFileSync(at(folder, 'pnpm-lock.yaml')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log(`Installing ${what} (once, in ${folder}/node_modules)…`)
  const pnpm = at('node_modules/pnpm/bin/pnpm.cjs')
  const args = [pnpm, 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=silent']
  const code = await run(process.execPath, args, { cwd: at(folder) })
  if (code !== 0) process.exit(code)
  writeFileSync(stamp, wanted)
}
