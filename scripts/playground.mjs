import './require-node.mjs'
import { parseArgs } from 'node:util'
import { setUp } from './setup.mjs'

const { values, positionals } = given()
const [command = 'serve', other] = positionals
const port = Number(values.port ?? 0)
if (!['serve', 'build'].includes(command)) refuse(`"${command}" is none of serve and build.`)
if (other !== undefined) refuse(`"${other}" is one word too many.`)
if (!/^\d+$/.test(values.port ?? '0') || port > 65_535)
  refuse(`--port must be a number from 0 to 65535, not "${values.port}".`)
await setUp()
// Of the built packages, so only now.
const { buildPlayground, printSizes } = await import('../playground/scripts/build.mjs')
await buildPlayground()
if (command === 'build') {
  printSizes()
  console.log('The playground is in playground/dist: any server of static files can deliver it.')
} else {
  const { servePlayground } = await import('../playground/scripts/serve.mjs')
  try {
    console.log(`The playground: ${(await servePlayground({ port })).url}`)
  } catch (error) {
    refuse(`It cannot listen on port ${port}: ${error instanceof Error ? error.message : error}.`)
  }
}

function given() {
  try {
    return parseArgs({ options: { port: { type: 'string' } }, allowPositionals: true })
  } catch {
    return refuse('It takes serve or build, and --port <number>.')
  }
}

/**
 * @param {string} why
 * @returns {never}
 */
function refuse(why) {
  console.error(`npm run playground: ${why}`)
  process.exit(2)
}
