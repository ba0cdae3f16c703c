import { randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { access, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'

/**
 * Creates an empty PGlite in memory, like `PGlite.create()` but in a quarter of the time: a database that was initialised once is kept in
 * `node_modules` and loaded.
 *
 * @returns {Promise<PGlite>}
 */
export async function createPglite() {
  const initialised = await initialisedDatabase()
  return PGlite.create({ loadDataDir: await openAsBlob(initialised) })
}

/**
 * Makes a directory that holds an empty database of PGlite, as `PGlite.create(directory)` would: a copy takes a fraction of a second, initialising one
 * takes several.
 *
 * @param {string} directory
 * @returns {Promise<void>}
 */
export async function createPgliteDirectory(directory) {
  await cp(await once('', initialiseDirectory), directory, { recursive: true })
}

function initialisedDatabase() {
  return once('.tar', initialise)
}

/**
 * The path of what is made once for each version of PGlite, and kept. Several processes may make it at once: each renames a complete one into place.
 *
 * @param {string} ending
 * @param {(path: string) => Promise<void>} make
 */
async function once(ending, make) {
  const about = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const version = about.dependencies['@electric-sql/pglite']
  const path = fileURLToPath(new URL(`../node_modules/.cache/pglite-${version}${ending}`, import.meta.url))
  try {
    await access(path)
  } catch {
    await mkdir(dirname(path), { recursive: true })
    const own = `${path}.${randomUUID()}`
    await make(own)
    await rename(own, path).catch(async (error) => {
      // Another process was faster. A file would have been replaced, but a directory is not.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      await rm(own, { recursive: true })
    })
  }
  return path
}

/** @param {string} path */
async function initialise(path) {
  const db = await PGlite.create()
  const dump = await db.dumpDataDir('none')
  await db.close()
  await writeFile(path, Buffer.from(await dump.arrayBuffer()))
}

/** @param {string} path */
async function initialiseDirectory(path) {
  const db = await PGlite.create(path, { loadDataDir: await openAsBlob(await initialisedDatabase()) })
  await db.close()
}
