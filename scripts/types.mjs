import './require-node.mjs'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMain } from './main-module.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'

/**
 * Type-checks everything that is written in TypeScript, tests and scripts included; vitest strips types without reading them.
 * @param {{ onLine?: (line: string) => void }} [options]
 * @returns {Promise<number>} tsc's exit code
 */
export function checkTypes(options = {}) {
  const tsc = at('node_modules/typescript/bin/tsc')
  return run(process.execPath, [tsc, '-b', '.', ...testProjects(), 'tools'], { cwd: root, ...options })
}

/** Projects that nobody refers to, because they emit nothing. */
function testProjects() {
  const packages = readdirSync(at('packages')).map((name) => join('packages', name))
  return [...packages, 'examples', 'bench']
    .map((folder) => join(folder, 'tsconfig.test.json'))
    .filter((project) => existsSync(at(project)) && existsSync(at(dirname(project), 'test')))
}

if (isMain(import.meta.url)) process.exitCode = await checkTypes()
