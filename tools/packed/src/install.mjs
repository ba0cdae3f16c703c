import { output } from './command.mjs'

/**
 * Lets npm install the packages of a folder's manifest, and further ones.
 * @param {string} folder
 * @param {readonly string[]} args
 */
export async function installIn(folder, args = []) {
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1', '--loglevel=error']
  try {
    await output('npm', ['install', ...options, ...args], folder)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.test(message))
      throw error
    throw new Error(
      "npm's registry can't be reached, so packages that this check needs can't be installed. Without network, " +
        `skip the test of the packed packages with BELAY_OFFLINE=1.\n${message}`,
    )
  }
}
