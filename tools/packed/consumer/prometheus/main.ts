// A user who has Prometheus and prom-client, and no SDK of OpenTelemetry.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { metricsHandler, prometheusName } from '@belay/opentelemetry/prometheus'
import { memory } from '@belay/testing'
import { createEngine, define } from '@belay/workflow'
import { register } from 'prom-client'

const greet = define('greet', { version: 1 }).step('hello', { run: () => 'hello' })
const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [greet] })
const handler = metricsHandler(engine, { register })
const server = createServer(handler.node).listen(0)
await once(server, 'listening')
await engine.start()
await (await engine.run(greet)).result()

const { port } = server.address() as AddressInfo
const text = await (await fetch(`http://localhost:${port}/metrics`)).text()
const shown = [prometheusName('belay.runs.ended'), prometheusName('belay.store.up')]
console.log(
  text
    .split('\n')
    .filter((line) => shown.some((name) => line.startsWith(name)))
    .join('\n'),
)
server.close()
await engine.close()

// Never called: only compiled.
export const typed = {
  fetched: (request: Request): Promise<Response> => handler(request),
  // @ts-expect-error there is no such metric
  wrongName: () => prometheusName('belay.runs'),
}
