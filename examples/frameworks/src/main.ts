import { createEngine, type Engine, stopOnSignals } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { startExpress } from './express.ts'
import { startFastify } from './fastify.ts'
import { startHono } from './hono.ts'
import { order } from './order.ts'
import type { Web } from './web.ts'

const FRAMEWORKS: Readonly<Record<string, (engine: Engine, port: number) => Promise<Web>>> = {
  hono: startHono,
  express: startExpress,
  fastify: startFastify,
}

const [name = ''] = process.argv.slice(2)
const start = FRAMEWORKS[name]
if (start === undefined) throw new Error(`Name one of ${Object.keys(FRAMEWORKS).join(', ')}.`)

// Web and worker in one process. In a larger application the web process leaves out start(), and workers are processes of their own.
const engine = createEngine({
  adapter: postgres(process.env['DATABASE_URL'], { autoMigrate: true }),
  workflows: [order],
})
await engine.start()
const web = await start(engine, Number(process.env['PORT'] ?? 0))
console.log(`${name} listens on http://127.0.0.1:${web.port}`)

// First the server, whose last requests still need the engine, then the engine.
const both = {
  async close(options: Parameters<Engine['close']>[0]) {
    await web.close()
    await engine.close(options)
  },
}
stopOnSignals(both, process, { timeout: '20s' })
