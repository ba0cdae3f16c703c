import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * From when on bytes are swallowed: the message that contains these bytes, or only its answer. All later bytes of the connection are swallowed too.
 */
export interface Silence {
  readonly from: string
  readonly keeps: 'sentence' | 'answer'
}

const STEP_BEGINS = 'set local belay_step.mark'

/**
 * A proxy to a database. The connections of steps fall silent, each as the next entry of `silences` says: nothing gets through any more, and neither
 * end is told. Returns its url.
 */
export async function silencingProxy(url: string, silences: Silence[]): Promise<string> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    pass(client, upstream, silences)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as { port: number }).port)
  return through.href
}

function pass(client: Socket, upstream: Socket, silences: Silence[]): void {
  let isStep = false
  let isSilent = false
  client.on('data', (bytes) => {
    isStep ||= bytes.includes(STEP_BEGINS)
    const [next] = silences
    if (!isSilent && isStep && next !== undefined && bytes.includes(next.from)) {
      silences.shift()
      isSilent = true
      if (next.keeps === 'answer') upstream.write(bytes)
    } else if (!isSilent) upstream.write(bytes)
  })
  upstream.on('data', (bytes) => {
    if (!isSilent) client.write(bytes)
  })
  // A silent connection is not closed either: closing would tell the other end.
  client.on('close', () => isSilent || upstream.destroy())
  upstream.on('close', () => isSilent || client.destroy())
}
