import './require-node.mjs'
import { parseArgs } from 'node:util'
import { setUp } from './setup.mjs'

const { values, positionals } = parseArgs({ options: { port: { type: 'string' } }, allowPositionals: true })
const [command = 'serve'] = positionals
const port = Number(values.port ?? 0)
if (!['serve', 'build'].includes(command)) {
  console.error(`npm run playground: "${command}" is none of serve and build.`)
  process.exit(2)
}
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`npm run playground: --port must be a number from 0 to 65535, not "${values.port}".`)
  process.exit(2)
}
await setUp()
// Of the built packages, so only now.
const { buildPlayground, printSizes } = await import('../playground/scripts/build.mjs')
await buildPlayground()
if (command === 'build') {
  printSizes()
  console.log('The playground is in playground/dist: any server of static files can deliver it.')
} else {
  const { servePlayground } = await import('../playground/scripts/serve.mjs')
  console.log(`The playground: ${(await servePlayground({ port })).url}`)
}
