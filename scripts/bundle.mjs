import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { isMain } from './main-module.mjs'

/**
 * Bundles the package in the current folder for publishing: what its manifest exports from `bundle/`, from the source of the same name. A program that
 * starts loads a few files instead of hundreds. Declarations stay as the compiler writes them, one for each source.
 *
 * Programs on Node get ES modules, with `import` and with `require()`. The CommonJS copy is for what can only load that, such as Jest.
 */
export async function bundle(folder = process.cwd()) {
  const manifest = readManifest(folder)
  const input = sourcesOf(folder, manifest)
  rmSync(join(folder, 'bundle'), { recursive: true, force: true })
  const shared = { dir: join(folder, 'bundle'), sourcemap: true, sourcemapExcludeSources: true }
  const modules = await rolldown({ input, external: (id) => !isOwnFile(id) && id !== INLINED, ...QUIET })
  await modules.write({
    ...shared,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: (chunk) => `chunks/${nameOf(chunk)}-[hash].js`,
  })
  const required = sourcesOf(folder, manifest, 'require')
  if (Object.keys(required).length === 0) return
  const commonJs = await rolldown({ input: required, external: (id) => isOutside(id, manifest), ...QUIET })
  await commonJs.write({
    ...shared,
    format: 'cjs',
    exports: 'named',
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: (chunk) => `chunks/${nameOf(chunk)}-[hash].cjs`,
  })
}

// It is not published: what surfaces take of it becomes part of them.
const INLINED = '@belay/graph-view'

/**
 * What is loaded on demand has the name of its source. What entries share would have that of any of its many sources.
 * @param {{ isDynamicEntry: boolean }} chunk
 */
function nameOf({ isDynamicEntry }) {
  return isDynamicEntry ? '[name]' : 'shared'
}

/** @typedef {{ exports: Record<string, string | Record<string, string>>, bin?: Record<string, string>, dependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} Manifest */

// The sources are the compiler's affair: nothing is reported here that it does not.
const QUIET = { platform: /** @type {const} */ ('node'), logLevel: /** @type {const} */ ('warn') }

/** @param {string} folder @returns {Manifest} */
function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/**
 * The sources of the entries, by the names of their bundles: of programs too, unless only those that have this condition are wanted.
 * @param {string} folder
 * @param {Manifest} manifest
 * @param {string} [condition]
 */
function sourcesOf(folder, manifest, condition = 'default') {
  const exported = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [] : (target[condition] ?? []),
  )
  const programs = condition === 'default' ? Object.values(manifest.bin ?? {}) : []
  return Object.fromEntries(
    [...exported, ...programs].map((path) => {
      const name = path.replace(/^\.\/bundle\/(.*)\.c?js$/, '$1')
      return [name, join(folder, 'src', `${name}.ts`)]
    }),
  )
}

/** @param {string} id */
function isOwnFile(id) {
  return id.startsWith('.') || id.startsWith('/') || /^[A-Za-z]:[\\/]/.test(id)
}

/**
 * What the CommonJS copy loads at run time. Other dependencies become part of it, because most of them are ES modules only. Packages that programs
 * also load themselves must not be copied: they would have a class twice.
 * @param {string} id
 * @param {Manifest} manifest
 */
function isOutside(id, manifest) {
  if (isOwnFile(id)) return false
  const [scope = '', name = ''] = id.split('/')
  const packageName = scope.startsWith('@') ? `${scope}/${name}` : scope
  if (id.startsWith('node:') || packageName === 'pg') return true
  return !(packageName in (manifest.dependencies ?? {})) && !isBundledDependency(packageName, manifest)
}

/**
 * A dependency of a dependency, which nothing but the bundle asks for.
 * @param {string} packageName
 * @param {Manifest} manifest
 */
function isBundledDependency(packageName, manifest) {
  return packageName === 'yocto-queue' && 'p-limit' in (manifest.dependencies ?? {})
}

if (isMain(import.meta.url)) await bundle()
