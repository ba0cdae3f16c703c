import { pathToFileURL } from 'node:url'
import { endWithLauncher, hearSignalsOnce } from './launcher.mjs'
import { setUp } from './setup.mjs'

/**
 * Sets the repository up and runs one of its built programs in this very process: signals, exit code and a kill -9 then need nobody to
 * pass them on.
 * @param {string} program its path
 */
export async function runProgram(program) {
  hearSignalsOnce()
  endWithLauncher()
  await setUp()
  process.argv.splice(1, 1, program)
  await import(pathToFileURL(program).href)
}
