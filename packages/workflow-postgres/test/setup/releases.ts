import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { linkDependencies } from '../../scripts/link-dependencies.mjs'
import { unbundle } from '../../scripts/unbundle.mjs'
import type { Migration } from '../../src/migrate/migration.ts'
import { WorkerProcess } from '../processes/child.ts'

const run = promisify(execFile)
const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ARCHIVE = fromHere('../fixtures/previous-release/packages.tgz')
const PROGRAM = fromHere('../processes/release-worker.mjs')
const PACKAGES = fromHere('../../..')
const NAMES = ['workflow', 'workflow-postgres']
const EMBEDDED = 'workflow-postgres/dist/migrate/migrations.generated.js'

/** A release of the packages, installed in a folder of its own. */
export interface Release {
  /** The migrations that its code knows. */
  readonly migrations: readonly Migration[]
  /** A process of test/processes/release-worker.mjs that runs this code. */
  process(env: Readonly<Record<string, string>>): WorkerProcess
  remove(): Promise<void>
}

/** The release in test/fixtures/previous-release: the code of an earlier commit. */
export function previousRelease(): Promise<Release> {
  return installed(async (scope) => {
    await run('tar', ['-xzf', ARCHIVE, '-C', scope])
  })
}

/** This code as a later release: it knows these migrations too. It must have been compiled. */
export function laterRelease(more: readonly Migration[]): Promise<Release> {
  return installed(async (scope) => {
    for (const name of NAMES) {
      for (const part of ['package.json', 'dist']) {
        await cp(join(PACKAGES, name, part), join(scope, name, part), {
          recursive: true,
          filter: (path) => !/\.(d\.ts|map)$/.test(path),
        })
      }
      await unbundle(join(scope, name))
    }
    const embedded = join(scope, EMBEDDED)
    await rename(embedded, embedded.replace(/\.js$/, '.before.js'))
    await writeFile(
      embedded,
      `import { MIGRATIONS as before } from './migrations.generated.before.js'
export const MIGRATIONS = [...before, ...${JSON.stringify(more)}]`,
    )
  })
}

/** A folder as npm makes one for an application, with dependencies of the workspace. `fill` brings Belay's packages. */
async function installed(fill: (scope: string) => Promise<void>): Promise<Release> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-release-'))
  const modules = join(folder, 'node_modules')
  const scope = join(modules, '@belay')
  await mkdir(scope, { recursive: true })
  await fill(scope)
  await linkDependencies(modules, Object.fromEntries(NAMES.map((name) => [name, join(scope, name)])))
  const program = join(folder, 'worker.mjs')
  await writeFile(program, await readFile(PROGRAM))
  const { MIGRATIONS } = await import(pathToFileURL(join(scope, EMBEDDED)).href)
  return {
    migrations: MIGRATIONS as readonly Migration[],
    process: (env) => new WorkerProcess(env, pathToFileURL(program).href),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
