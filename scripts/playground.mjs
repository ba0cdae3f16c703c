import './require-node.mjs'
import { setUp } from './setup.mjs'

await setUp()
const { buildPlayground } = await import('../playground/scripts/build.mjs')
const { servePlayground } = await import('../playground/scripts/serve.mjs')

await buildPlayground()
const { url } = await servePlayground({ port: Number(process.argv[2] ?? 4_010) })
console.log(`The playground is at ${url}. Ctrl-C ends it.`)
