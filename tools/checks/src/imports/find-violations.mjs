import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, posix } from 'node:path'
import { readImports } from './read-imports.mjs'

/** @typedef {import('./import-rules.mjs').PackageRules} PackageRules */
/** @typedef {import('./read-imports.mjs').Import & { file: string }} FoundImport `file` is below `src` */

/**
 * The wrong imports of a repository, and the files that no rule knows, one sentence each. Throws when a package has no sources: a check of nothing is no check.
 * @param {string} root
 * @param {readonly PackageRules[]} rules
 * @returns {{ violations: string[], checkedImports: number }}
 */
export function findViolations(root, rules) {
  /** @type {string[]} */
  const violations = foldersWithSources(root)
    .filter((folder) => !rules.some((each) => each.folder === folder))
    .map((folder) => `${folder}/src has sources and no rule: add it to RULES`)
  let checkedImports = 0
  for (const packageRules of rules) {
    const files = sourcesOf(root, packageRules.folder)
    const imports = files.flatMap((file) => importsOf(root, packageRules.folder, file))
    checkedImports += imports.length
    violations.push(...strangers(files, packageRules))
    /** @param {FoundImport} found */
    const place = (found) => `${packageRules.folder}/src/${found.file}:${found.line}`
    for (const found of packageRules.circlesOnly === true ? [] : imports) {
      const problem = isRelative(found)
        ? roomProblem(found, packageRules)
        : externalProblem(found, packageRules)
      if (problem !== null) violations.push(`${place(found)} ${problem}`)
    }
    violations.push(...circles(imports, packageRules).map((cycle) => `${packageRules.folder}/src: ${cycle}`))
  }
  return { violations, checkedImports }
}

/**
 * Folders of the repository with a folder `src` of TypeScript.
 * @param {string} root @param {string} [below] @returns {string[]}
 */
function foldersWithSources(root, below = '') {
  const inside = readdirSync(join(root, below), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_OURS.test(entry.name))
    .map(({ name }) => name)
  const deeper = inside
    .filter((name) => name !== 'src')
    .flatMap((name) => foldersWithSources(root, posix.join(below, name)))
  return inside.includes('src') && typeScriptIn(join(root, below, 'src')).length > 0
    ? [below, ...deeper]
    : deeper
}

/** Tests are no rooms, and the rest is written by tools. */
const NOT_OURS = /^(\..*|node_modules|test|dist|bundle|coverage)$/

/** @param {string} src */
function typeScriptIn(src) {
  const paths = existsSync(src) ? readdirSync(src, { recursive: true, encoding: 'utf8' }) : []
  return paths.map((path) => path.replaceAll('\\', '/')).filter((file) => /\.[cm]?tsx?$/.test(file))
}

/** @param {string} root @param {string} folder */
function sourcesOf(root, folder) {
  const src = join(root, folder, 'src')
  const files = typeScriptIn(src)
  if (files.length === 0) throw new Error(`There are no TypeScript files in ${src}.`)
  return files
}

/** @param {string} root @param {string} folder @param {string} file @returns {FoundImport[]} */
function importsOf(root, folder, file) {
  const source = readFileSync(join(root, folder, 'src', file), 'utf8')
  return readImports(file, source).map((found) => ({ ...found, file }))
}

/**
 * Files in no room: nothing they import, and nothing that imports them, could be wrong.
 * @param {readonly string[]} files @param {PackageRules} rules
 */
function strangers(files, { folder, rooms }) {
  return files
    .filter((file) => rooms?.some((room) => room.files.test(file)) === false)
    .map((file) => `${folder}/src/${file} stands in no room: name its folder in import-rules.mjs`)
}

/** @param {FoundImport} found @returns {found is FoundImport & { module: string }} */
function isRelative(found) {
  return found.module?.startsWith('.') ?? false
}

/** @param {FoundImport & { module: string }} found @param {PackageRules} rules */
function roomProblem(found, rules) {
  const target = targetOf(found)
  if (target.startsWith('../'))
    return `imports "${found.module}": a package reaches another by its name, not by a path`
  const rooms = rules.rooms ?? []
  const from = rooms.find((room) => room.files.test(found.file))
  const to = rooms.find((room) => room.files.test(target))
  if (from === undefined || to === undefined || from === to || from.mayImport.includes(to.name)) return null
  const allowed = from.mayImport.length === 0 ? 'none of the others' : from.mayImport.join(', ')
  return `imports "${found.module}": ${from.name} may import ${allowed}, not ${to.name}`
}

/** @param {FoundImport} found @param {PackageRules} rules */
function externalProblem(found, rules) {
  const { module, file, typesOnly } = found
  if (module === null)
    return 'imports a module whose name is computed, which nothing can check: write the name out'
  const isBuiltin = module.startsWith('node:') || builtinModules.includes(module)
  if (isBuiltin && rules.builtins !== true) {
    return `imports "${module}": this package runs in browsers too, where Node's modules don't exist`
  }
  const rule = rules.externals.find((each) => each.module.test(module) && each.except?.test(file) !== true)
  if (rule === undefined || rule.because === null || (rule.typesAllowed === true && typesOnly)) return null
  return `imports "${module}": ${rule.because}`
}

/**
 * Rooms that import each other are really one room with two names; the same goes for files. Types count, because a reader follows them too.
 * @param {readonly FoundImport[]} imports
 * @param {PackageRules} rules
 */
function circles(imports, rules) {
  if (rules.circlesOnly === true) return circleAmong('files', imports, (file) => file)
  const amongRooms = circleAmong('rooms', imports, (file) => roomName(file, rules))
  return amongRooms.length > 0 ? amongRooms : circleAmong('files', imports, (file) => file)
}

/**
 * @param {'rooms' | 'files'} what
 * @param {readonly FoundImport[]} imports
 * @param {(file: string) => string} nameOf
 */
function circleAmong(what, imports, nameOf) {
  /** @type {Map<string, Map<string, string>>} name → the names it imports → an import that does it */
  const edges = new Map()
  for (const found of imports) {
    if (!isRelative(found)) continue
    const [from, to] = [nameOf(found.file), nameOf(targetOf(found))]
    if (from === to || to.startsWith('..')) continue
    const targets = edges.get(from) ?? new Map()
    edges.set(from, targets.set(to, `${found.file}:${found.line}`))
  }
  const cycle = firstCycle(edges)
  if (cycle === null) return []
  const proof = cycle.slice(1).map((to, index) => edges.get(cycle[index] ?? '')?.get(to))
  return [`the ${what} ${cycle.join(' → ')} go round in a circle (${proof.join(', ')})`]
}

/** @param {string} file @param {PackageRules} rules */
function roomName(file, rules) {
  const room = rules.rooms?.find((each) => each.files.test(file))
  return room?.name ?? (file.split('/')[0] ?? file).replace(/\.[cm]?tsx?$/, '')
}

/** @param {FoundImport & { module: string }} found */
function targetOf(found) {
  return posix.join(posix.dirname(found.file), found.module)
}

/** @param {Map<string, Map<string, string>>} edges @returns {string[] | null} */
function firstCycle(edges) {
  /** @type {Set<string>} */
  const done = new Set()
  /** @param {string} room @param {string[]} path @returns {string[] | null} */
  const walk = (room, path) => {
    if (path.includes(room)) return [...path.slice(path.indexOf(room)), room]
    if (done.has(room)) return null
    for (const next of edges.get(room)?.keys() ?? []) {
      const cycle = walk(next, [...path, room])
      if (cycle !== null) return cycle
    }
    done.add(room)
    return null
  }
  for (const room of edges.keys()) {
    const cycle = walk(room, [])
    if (cycle !== null) return cycle
  }
  return null
}
