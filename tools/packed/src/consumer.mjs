import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { output } from './command.mjs'
import { installIn } from './install.mjs'
import { packPackages, root } from './pack.mjs'

const PROGRAM = fileURLToPath(new URL('../consumer', import.meta.url))

/** What a user's project has besides the packages: types of Node and of the client that it passes in. */
const OWN_DEPENDENCIES = { '@types/node': '20.19.37' }

/**
 * @typedef {object} Consumer
 * @property {string} folder
 * @property {(project?: string) => Promise<string[]>} compile builds a program and resolves the errors in it and in the packages' own declarations
 * @property {(...program: string[]) => Promise<string>} run resolves what a program prints on Node
 * @property {(...packages: string[]) => Promise<void>} add installs further packages, as a user would
 * @property {() => Promise<void>} remove
 */

/**
 * An empty project outside the workspace, with the packed packages installed by npm and the program of `tools/packed/consumer`.
 * @param {readonly string[]} [names] only these packages
 * @returns {Promise<Consumer>}
 */
export async function makeConsumer(names) {
  const folder = await mkdtemp(join(tmpdir(), 'belay-consumer-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const packed = await packPackages(folder, names)
    const tarballs = Object.fromEntries(packed.map(({ name, tarball }) => [name, `file:${tarball}`]))
    const manifest = { private: true, type: 'module', dependencies: { ...tarballs, ...OWN_DEPENDENCIES } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    await cp(PROGRAM, folder, { recursive: true })
    await installIn(folder)
  } catch (error) {
    await remove()
    throw error
  }
  return {
    folder,
    remove,
    compile: (project = '.') => compile(folder, project),
    run: (...program) => output(process.execPath, program, folder),
    add: (...packages) => installIn(folder, packages),
  }
}

/**
 * Also checks declarations, unlike most projects: an error in ours would silently turn types into `any`. Errors in third-party declarations are
 * ignored.
 * @param {string} folder
 * @param {string} project
 */
async function compile(folder, project) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const report = await output(process.execPath, [tsc, '-p', project, '--pretty', 'false'], folder).catch(
    (/** @type {Error} */ error) => error.message,
  )
  const errors = report.split('\n').filter((line) => / error TS\d+: /.test(line))
  return errors.filter((line) => !line.startsWith('node_modules/') || line.startsWith('node_modules/@belay/'))
}
