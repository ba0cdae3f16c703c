import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { output } from './command.mjs'
import { installIn } from './install.mjs'
import { root } from './pack.mjs'

/**
 * @typedef {object} Runtime
 * @property {string} name as the table shows it
 * @property {string} program
 * @property {readonly string[]} args before the program's own
 */

const isWindows = process.platform === 'win32'
const ending = isWindows ? '.exe' : ''

/**
 * The runtimes that Belay is tried on. Each is a package of npm that holds a binary: nothing is downloaded from elsewhere, and no script of a package
 * runs. In a quick round only those that differ most.
 */
const RUNTIMES = [
  // The oldest that the packages allow, and the newest of every line that is supported.
  { name: 'Node', version: '20.19.0', quick: true, ...node() },
  { name: 'Node', version: '22.23.3', quick: false, ...node() },
  { name: 'Node', version: '24.21.0', quick: true, ...node() },
  { name: 'Node', version: '26.10.0', quick: false, ...node() },
  { name: 'Bun', version: '1.4.5', quick: true, ...bun() },
  { name: 'Deno', version: '2.9.6', quick: true, ...deno() },
]

/**
 * Installs the runtimes, in folders that stay, because binaries are large.
 * @param {{ quick: boolean }} options
 * @returns {Promise<Runtime[]>}
 */
export async function installRuntimes({ quick }) {
  const installed = []
  for (const wanted of RUNTIMES.filter((runtime) => runtime.quick || !quick)) {
    installed.push(await installRuntime(wanted, join(root, '.belay/runtimes')))
  }
  return installed
}

/**
 * Throws with a sentence if the runtime cannot be had: a runtime that nobody tried is not supported.
 * @param {{ name: string, version: string, packageName: string, binary: string, args: readonly string[] }} wanted
 * @param {string} parent where its folder is made: runtimes are versions of one package, so each has its own
 * @returns {Promise<Runtime>}
 */
export async function installRuntime({ name, version, packageName, binary, args }, parent) {
  const folder = join(parent, `${name.toLowerCase()}-${version}`)
  await mkdir(folder, { recursive: true })
  const manifest = { private: true, dependencies: { [packageName]: version } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const program = join(folder, 'node_modules', packageName, binary)
  try {
    await installIn(folder, ['--ignore-scripts'])
    await output(program, ['--version'], folder)
  } catch (error) {
    throw new Error(
      `${name} ${version} could not be installed from npm (${packageName}), so Belay was not tried on it. If npm has no such package for this platform, remove the runtime from tools/packed/src/runtimes.mjs. npm said: ${/** @type {Error} */ (error).message}`,
    )
  }
  return { name: `${name} ${version}`, program, args }
}

function node() {
  const platform = isWindows ? 'win' : process.platform
  return { packageName: `node-${platform}-${process.arch}`, binary: `bin/node${ending}`, args: [] }
}

function bun() {
  const platform = isWindows ? 'windows' : process.platform
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch
  return { packageName: `@oven/bun-${platform}-${arch}`, binary: `bin/bun${ending}`, args: ['run'] }
}

function deno() {
  const libc = process.platform === 'linux' ? '-glibc' : ''
  return {
    packageName: `@deno/${process.platform}-${process.arch}${libc}`,
    binary: `deno${ending}`,
    // The packages that npm has installed, and every right.
    args: ['run', '--quiet', '--allow-all', '--node-modules-dir=manual'],
  }
}
