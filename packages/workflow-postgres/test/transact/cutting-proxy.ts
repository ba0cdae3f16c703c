import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * What happens to a step's COMMIT: the connection breaks before the server receives it, or after that and before the client gets the answer; or the
 * client loses its connection first, and the server receives it later.
 */
export type Fate = 'passes' | 'cut before' | 'cut after' | 'cut, and late'

const LATE_MS = 400
const STEP_BEGINS = 'set local belay_step.mark'
const COMMIT = 'commit\0'

/** A proxy to a database. The COMMITs of steps meet these fates, one after another, and later ones pass. Returns its url. */
export async function cuttingProxy(url: string, fates: Fate[]): Promise<string> {
  const target = new URL(url)
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    pass(client, upstream, fates)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
  })
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as { port: number }).port)
  return through.href
}

function pass(client: Socket, upstream: Socket, fates: Fate[]): void {
  let isStep = false
  let isCutAfter = false
  const cut = () => {
    client.destroy()
    upstream.destroy()
  }
  client.on('data', (bytes) => {
    isStep ||= bytes.includes(STEP_BEGINS)
    const fate = isStep && bytes.includes(COMMIT) ? (fates.shift() ?? 'passes') : 'passes'
    if (fate === 'cut before') return cut()
    if (fate === 'cut, and late') {
      client.removeListener('close', cut)
      client.destroy()
      // biome-ignore lint/style/noRestrictedGlobals: lateness is what this proxy makes.
      setTimeout(() => upstream.end(bytes), LATE_MS)
      return
    }
    isCutAfter = fate === 'cut after'
    upstream.write(bytes)
  })
  upstream.on('data', (bytes) => {
    if (isCutAfter) cut()
    else client.write(bytes)
  })
  for (const socket of [client, upstream]) socket.on('error', () => {})
  client.on('close', cut)
  upstream.on('close', cut)
}
