import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Lets packages outside the workspace find their dependencies and peers: each is linked to the one that the workspace has. Links of Belay's own packages are not
 * made: they would lead to the workspace's code. A dependency that the workspace has no more is left out: it may have had types only, and one that is needed is missed when it is imported.
 * @param {string} modules the folder node_modules that the links are made in
 * @param {Readonly<Record<string, string>>} folders of the packages, by their folder's name in the workspace
 */
export async function linkDependencies(modules, folders) {
  for (const [name, folder] of Object.entries(folders)) {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const wanted = { ...manifest.dependencies, ...manifest.peerDependencies }
    for (const dependency of Object.keys(wanted)) {
      const link = join(modules, dependency)
      const installed = join(PACKAGES, name, 'node_modules', dependency)
      if (dependency.startsWith('@belay/') || existsSync(link) || !existsSync(installed)) continue
      await mkdir(dirname(link), { recursive: true })
      // A junction needs no rights on Windows; elsewhere the type is ignored.
      await symlink(await realpath(installed), link, 'junction')
    }
  }
}
