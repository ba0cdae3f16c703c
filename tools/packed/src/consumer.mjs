import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { packPackages, root } from './pack.mjs'

const execute = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('../consumer', import.meta.url))

/** What a user's project has besides the packages: types of Node and of the client that it passes in. */
const OWN_DEPENDENCIES = { '@types/node': '20.19.37' }

// A program that hangs must not outlive the test that waits for it.
const TIMEOUT_MS = 90_000

/**
 * @typedef {object} Consumer
 * @property {string} folder
 * @property {() => Promise<string[]>} compile builds the program and resolves the errors in it and in the packages' own declarations
 * @property {(program: string) => Promise<string>} run resolves what the program prints
 * @property {() => Promise<void>} remove
 */

/**
 * An empty project outside the workspace, with the packed packages installed by npm and the program of `tools/packed/consumer`.
 * @returns {Promise<Consumer>}
 */
export async function makeConsumer() {
  const folder = await mkdtemp(join(tmpdir(), 'belay-consumer-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const packed = await packPackages(folder)
    const tarballs = Object.fromEntries(packed.map(({ name, tarball }) => [name, `file:${tarball}`]))
    const manifest = { private: true, type: 'module', dependencies: { ...tarballs, ...OWN_DEPENDENCIES } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    await cp(PROGRAM, folder, { recursive: true })
    await install(folder)
  } catch (error) {
    await remove()
    throw error
  }
  return {
    folder,
    remove,
    compile: () => compile(folder),
    run: (program) => output(process.execPath, [program], folder),
  }
}

/**
 * Also checks declarations, unlike most projects: an error in ours would silently turn types into `any`. Errors in third-party declarations are
 * ignored.
 * @param {string} folder
 */
async function compile(folder) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const report = await output(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], folder).catch(
    (/** @type {Error} */ error) => error.message,
  )
  const errors = report.split('\n').filter((line) => / error TS\d+: /.test(line))
  return errors.filter((line) => !line.startsWith('node_modules/') || line.startsWith('node_modules/@belay/'))
}

/**
 * Installs what the package.json of a folder outside the workspace asks for.
 * @param {string} folder
 */
export async function install(folder) {
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1', '--loglevel=error']
  try {
    await output('npm', ['install', ...options], folder)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.test(message))
      throw error
    throw new Error(
      "npm's registry can't be reached, so the packed packages' own dependencies can't be installed. Without network, " +
        `skip this test with BELAY_OFFLINE=1.\n${message}`,
    )
  }
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
async function output(command, args, cwd) {
  try {
    // On Windows npm is a script, which only a shell can start.
    const shell = process.platform === 'win32' && command === 'npm'
    const { stdout } = await execute(command, args, {
      cwd,
      shell,
      env: plainEnvironment(),
      timeout: TIMEOUT_MS,
    })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error)
    throw new Error(`${[command, ...args].join(' ')} failed:\n${stdout}${stderr}`)
  }
}

/** Under `npm test`, npm passes settings of this repository to its children. A consumer's npm must not see them. */
export function plainEnvironment() {
  const inherited =
    /^(npm_(package|lifecycle)_|npm_config_(local_prefix|prefix)$|NODE_OPTIONS$|NODE_PATH$|VITEST|INIT_CWD$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)))
}
