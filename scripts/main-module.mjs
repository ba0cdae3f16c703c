import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Whether this module is the program itself and not imported by one.
 * @param {string} url
 */
export function isMain(url) {
  const program = process.argv[1]
  return program !== undefined && realpathSync(program) === realpathSync(fileURLToPath(url))
}
