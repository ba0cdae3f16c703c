const LEAST_MAJOR = 20
const LEAST_MINOR = 19

/**
 * What is wrong with a version of Node, or null.
 * @param {string} version
 */
export function nodeProblem(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)) return null
  return (
    `Belay needs Node.js ${LEAST_MAJOR}.${LEAST_MINOR} or later; this is ${version} (${process.execPath}).\n` +
    'Install a current version from https://nodejs.org, or with a version manager: nvm install 22'
  )
}
