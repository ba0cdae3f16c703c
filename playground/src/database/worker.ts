import { PGlite } from '@electric-sql/pglite'
import { type FromDatabase, problemOf, type ToDatabase } from '../messages.ts'
import { DatabaseServer } from './server.ts'

const tell = (message: FromDatabase) => postMessage(message)

let server: DatabaseServer | undefined

addEventListener('message', ({ data }: MessageEvent<ToDatabase>) => {
  switch (data.type) {
    case 'open':
      open().catch((error: unknown) => tell({ type: 'failed', problem: problemOf(error) }))
      return
    case 'client':
      connect(data)
      return
    case 'cut':
      server?.cut(data.ms)
  }
})

async function open(): Promise<void> {
  tell({ type: 'progress', part: 0, what: 'Loading PostgreSQL' })
  const [pgliteWasmModule, fsBundle, loadDataDir] = await Promise.all([
    WebAssembly.compileStreaming(fetch('pglite.wasm')),
    blobOf('pglite.data'),
    blobOf('snapshot.tar.gz'),
  ])
  tell({ type: 'progress', part: 0.6, what: 'Starting PostgreSQL' })
  const database = await PGlite.create({ pgliteWasmModule, fsBundle, loadDataDir })
  server = new DatabaseServer(database, (statement) => tell({ type: 'statement', statement }))
  tell({ type: 'opened', continued: false })
}

async function blobOf(name: string): Promise<Blob> {
  const response = await fetch(name)
  if (!response.ok) throw new Error(`${name} cannot be loaded: the server answered ${response.status}.`)
  return response.blob()
}

function connect({ name, lock, port }: ToDatabase & { readonly type: 'client' }): void {
  server!.connect(name, port)
  const watch = () => {
    server!.returned(name)
    // Granted once the client's thread is gone.
    void navigator.locks.request(lock, async () => {
      tell({ type: 'client_gone', name, rolledBack: await server!.disconnect(name) })
    })
  }
  // It holds its lock before it asks anything. Requested earlier, the lock would be granted here at once.
  port.addEventListener('message', watch, { once: true })
}
