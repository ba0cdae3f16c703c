// Packs the code of a commit, for the test that runs it beside later code: as npm would deliver it, without sources, declarations and maps.
//   node packages/workflow-postgres/scripts/pack-release.mjs <commit>
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkDependencies } from './link-dependencies.mjs'
import { unbundle } from './unbundle.mjs'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const TARGET = fileURLToPath(new URL('../test/fixtures/previous-release/', import.meta.url))
const NAMES = ['workflow', 'workflow-postgres']
const SOURCES = [...NAMES.map((name) => `packages/${name}`), 'tsconfig.base.json', 'migrations']

/** @param {string} program @param {readonly string[]} args @param {string} [cwd] */
const run = (program, args, cwd = ROOT) => execFileSync(program, args, { cwd, encoding: 'utf8' })

const commit = run('git', ['rev-parse', '--verify', `${process.argv[2] ?? 'HEAD'}^{commit}`]).trim()
const work = mkdtempSync(join(tmpdir(), 'belay-release-'))
try {
  await build()
  for (const name of NAMES) await unbundle(join(work, 'packages', name))
  const packed = NAMES.map(pack)
  mkdirSync(TARGET, { recursive: true })
  run('tar', ['-czf', join(TARGET, 'packages.tgz'), ...NAMES], join(work, 'packed'))
  const version = JSON.parse(
    readFileSync(join(work, 'packed', NAMES[0] ?? '', 'package.json'), 'utf8'),
  ).version
  writeFileSync(join(TARGET, 'release.json'), `${JSON.stringify({ version, commit }, null, 2)}\n`)
  console.log(`Packed ${packed.join(' and ')} of ${commit}.`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Compiles the sources of the commit with the compiler and the dependencies of the workspace. */
async function build() {
  run('git', ['archive', '--output', join(work, 'sources.tar'), commit, ...SOURCES])
  run('tar', ['-xf', 'sources.tar'], work)
  const folders = Object.fromEntries(NAMES.map((name) => [name, join(work, 'packages', name)]))
  const modules = join(work, 'node_modules')
  await linkDependencies(modules, folders)
  mkdirSync(join(modules, '@belay'))
  for (const name of NAMES) symlinkSync(folders[name] ?? '', join(modules, '@belay', name), 'junction')
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(modules, '@types/node'), 'junction')
  run(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', 'packages/workflow-postgres'],
    work,
  )
}

/**
 * What npm would deliver of a package, and a program needs to run.
 * @param {string} name
 */
function pack(name) {
  const folder = join(work, 'packages', name)
  const [{ filename, version }] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts'], folder))
  const target = join(work, 'packed', name)
  mkdirSync(target, { recursive: true })
  run('tar', ['-xzf', join(folder, filename), '--strip-components=1'], target)
  for (const unused of ['src', 'migrations']) rmSync(join(target, unused), { recursive: true, force: true })
  const files = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  for (const { parentPath, name: file } of files) {
    const path = join(parentPath, file)
    if (file.endsWith('.js'))
      writeFileSync(path, readFileSync(path, 'utf8').replace(/\/\/# sourceMappingURL=.*\s*$/, ''))
    else if (file !== 'package.json') rmSync(path)
  }
  return `${name} ${version}`
}
