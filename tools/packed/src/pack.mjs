import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The repository's folder. */
export const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * @typedef {object} PackedPackage
 * @property {string} name
 * @property {string} folder of the sources
 * @property {string} tarball
 * @property {readonly string[]} files paths in the tarball
 */

/**
 * Packs every package, or those of these names, as `pnpm publish` would. They must have been built.
 * @param {string} destination a folder for the tarballs
 * @param {readonly string[]} [names]
 * @returns {Promise<PackedPackage[]>}
 */
export async function packPackages(destination, names) {
  /** @type {PackedPackage[]} */
  const packed = []
  for (const directory of readdirSync(join(root, 'packages')).sort()) {
    const folder = join(root, 'packages', directory)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    // A private one is part of others, and not published.
    if (manifest.private === true || names?.includes(manifest.name) === false) continue
    const pnpm = join(root, 'node_modules/pnpm/bin/pnpm.cjs')
    const { stdout } = await execute(
      process.execPath,
      [pnpm, 'pack', '--json', '--pack-destination', destination],
      // A lifecycle script would build again, while tests read the build's output.
      { cwd: folder, env: { ...process.env, npm_config_ignore_scripts: 'true' } },
    )
    /** @type {{ name: string, filename: string, files: { path: string }[] }} */
    const { name, filename, files } = JSON.parse(stdout)
    packed.push({ name, folder, tarball: filename, files: files.map(({ path }) => path).sort() })
  }
  return packed
}
