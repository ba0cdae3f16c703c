import './require-node.mjs'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceFolders } from './packages.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'

// Everything that is written in TypeScript, tests and scripts included; vitest strips types without reading them.
const tsc = at('node_modules/typescript/bin/tsc')
process.exitCode = await run(
  process.execPath,
  [tsc, '-b', '.', ...testProjects(), 'packages/dashboard/ui', 'playground', 'tools'],
  { cwd: root },
)

/** Projects that nobody refers to, because they emit nothing. */
function testProjects() {
  return workspaceFolders()
    .filter((folder) => existsSync(at(folder, 'tsconfig.test.json')) && existsSync(at(folder, 'test')))
    .map((folder) => join(folder, 'tsconfig.test.json'))
}
