import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Makes a package in this folder export the compiler's modules instead of the bundles that are published. The tests of releases exchange one of them.
 * Packages from before the bundles stay as they are.
 * @param {string} folder
 */
export async function unbundle(folder) {
  const path = join(folder, 'package.json')
  const manifest = JSON.parse(await readFile(path, 'utf8'))
  const entries = Object.entries(manifest.exports).map(([name, target]) => [name, modulesOf(target)])
  await writeFile(
    path,
    JSON.stringify({ ...manifest, files: ['dist'], exports: Object.fromEntries(entries) }, null, 2),
  )
}

/** @param {string | Record<string, string>} target */
function modulesOf(target) {
  if (typeof target === 'string') return target
  return target['default']?.replace('./bundle/', './dist/')
}
