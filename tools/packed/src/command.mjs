import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

// A program that hangs must not outlive the test that waits for it.
const TIMEOUT_MS = 90_000

/**
 * What a program prints, without the settings that npm gives its children. Throws with all that it printed if it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {Readonly<Record<string, string>>} [env] besides that of this process
 */
export async function output(command, args, cwd, env = {}) {
  try {
    // On Windows npm is a script, which only a shell can start.
    const shell = process.platform === 'win32' && command === 'npm'
    const { stdout } = await execute(command, args, {
      cwd,
      shell,
      env: { ...plainEnvironment(), ...env },
      timeout: TIMEOUT_MS,
    })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '', killed } = /** @type {Partial<Failure>} */ (error)
    const how = killed === true ? `did not end within ${TIMEOUT_MS / 1_000} s` : 'failed'
    throw new Error(`${[command, ...args].join(' ')} ${how}:\n${stdout}${stderr || String(error)}`)
  }
}

/** @typedef {{ stdout: string, stderr: string, killed: boolean }} Failure */

/** Under `npm test`, npm passes settings of this repository to its children. A consumer's npm must not see them. */
export function plainEnvironment() {
  const inherited =
    /^(npm_(package|lifecycle)_|npm_config_(local_prefix|prefix)$|NODE_OPTIONS$|NODE_PATH$|VITEST|INIT_CWD$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)))
}
