// A user who mounts the dashboard in node:http.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Authorized, dashboard, toNodeHandler } from '@belay/dashboard'
import { memory } from '@belay/testing'
import { createEngine, define } from '@belay/workflow'

const greet = define('greet', { version: 1 }).step('hello', { run: () => 'hello' })
const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [greet] })
await engine.start()
await (await engine.run(greet, undefined, { key: 'first' })).result()

const handler = dashboard({ engine, authorize: () => ({ by: 'ada', can: [] }) })
const server = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1')
await new Promise((listening) => server.once('listening', listening))
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

const page = await (await fetch(base)).text()
const assets = await Promise.all(
  [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(async ([, path]) => {
    const response = await fetch(new URL(path!, base))
    return `${response.status} ${response.headers.get('content-type')}`
  }),
)
const { runs } = (await (await fetch(`${base}api/runs`)).json()) as {
  runs: { key: string; status: string }[]
}
console.log(JSON.stringify({ assets, runs: runs.map(({ key, status }) => `${key} ${status}`) }))

server.close()
server.closeAllConnections()
await engine.close()

// Never called: only compiled.
export const typed = {
  handler: (): Promise<Response> => handler(new Request(base)),
  may: { by: 'ada', can: ['undo.retry'] } satisfies Authorized,
  // @ts-expect-error nobody says who may look
  openToAll: () => dashboard({ engine }),
  // @ts-expect-error there is no such capability
  wrongCapability: () => dashboard({ engine, authorize: () => ({ by: 'ada', can: ['runs.delete'] }) }),
}
