import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { inject, onTestFinished } from 'vitest'

/** A way to the server of the tests that can be cut. */
export interface Proxy {
  readonly url: string
  /** Nothing gets through any more, and nothing is closed: the other end seems to think for ever. */
  goSilent(): void
  /** Ends what was silent; new connections get through. */
  heal(): void
}

export async function proxy(): Promise<Proxy> {
  const target = new URL(inject('serverUrl'))
  const sockets = new Set<Socket>()
  let isSilent = false
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (!isSilent) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    cut()
    server.close()
  })
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    goSilent: () => {
      isSilent = true
    },
    heal: () => {
      isSilent = false
      cut()
    },
  }
}
