import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy that on command swallows everything, as a firewall does. A connection that lost something stays silent for ever. */
export async function swallowingProxy(target: URL) {
  let isSwallowing = false
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    let isTorn = false
    const pass = (to: Socket) => (bytes: Buffer) => {
      isTorn ||= isSwallowing
      if (!isTorn) to.write(bytes)
    }
    client.on('data', pass(upstream))
    upstream.on('data', pass(client))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => isTorn || other.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const through = new URL(target)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as { port: number }).port)
  return {
    url: through.href,
    swallow() {
      isSwallowing = true
    },
    /** New connections get through. */
    pass() {
      isSwallowing = false
    },
  }
}
