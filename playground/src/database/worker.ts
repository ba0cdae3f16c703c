import { PGlite } from '@electric-sql/pglite'
import { type FromDatabase, problemOf, type ToDatabase } from '../messages.ts'
import { DatabaseServer } from './server.ts'
import { isEmpty, openChanges, Storage } from './storage.ts'

const tell = (message: FromDatabase) => postMessage(message)

let server: DatabaseServer | undefined

addEventListener('message', ({ data }: MessageEvent<ToDatabase>) => {
  switch (data.type) {
    case 'open':
      open(data).catch((error: unknown) => tell({ type: 'failed', problem: problemOf(error) }))
      return
    case 'client':
      connect(data)
      return
    case 'cut':
      server?.cut(data.ms)
  }
})

async function open({ fresh, inMemory }: ToDatabase & { readonly type: 'open' }): Promise<void> {
  if (!inMemory && !(await isOurs())) throw Object.assign(new Error(TAKEN), { code: 'DATABASE_TAKEN' })
  tell({ type: 'progress', part: 0, what: 'Loading PostgreSQL' })
  const [pgliteWasmModule, fsBundle, packed] = await Promise.all([
    WebAssembly.compileStreaming(fetch('pglite.wasm')),
    loaded('pglite.data').then((response) => response.blob()),
    loaded('snapshot.tar.gz').then((response) => response.arrayBuffer()),
  ])
  tell({ type: 'progress', part: 0.6, what: 'Starting PostgreSQL' })
  const [snapshot, changes] = await Promise.all([
    unpacked(packed),
    inMemory ? undefined : storedOn(packed, fresh),
  ])
  const continued = changes !== undefined && !(await isEmpty(changes))
  const fs = new Storage(snapshot, changes)
  const database = await PGlite.create({ pgliteWasmModule, initdbWasmModule: EMPTY, fsBundle, fs })
  server = new DatabaseServer(
    database,
    () => fs.stored(),
    (statement) => tell({ type: 'statement', statement }),
  )
  tell({ type: 'opened', continued, isKept: changes !== undefined })
}

/** There is no initdb to run on a snapshot: without this, PGlite would load its program all the same. */
const EMPTY = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))

const TAKEN =
  'Another tab has this database open. Close that tab and load this one again, or play here in memory.'

/** Only one thread may write the stored pages. A tab that was just closed or loaded again gives its lock back within moments. */
function isOurs(): Promise<boolean> {
  return new Promise((answer) => {
    const signal = AbortSignal.timeout(1_500)
    navigator.locks
      .request('belay-playground-database', { signal }, () => {
        answer(true)
        return new Promise(() => {})
      })
      .catch(() => answer(false))
  })
}

/** What is stored on this snapshot; undefined if the browser refuses to store, as in some private windows. */
async function storedOn(packed: ArrayBuffer, fresh: boolean): Promise<IDBDatabase | undefined> {
  try {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', packed))
    return await openChanges([...hash.slice(0, 8)].map((byte) => byte.toString(16)).join(''), fresh)
  } catch {
    return undefined
  }
}

/** By the browser, which is faster at it than PGlite. */
async function unpacked(packed: ArrayBuffer): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

async function loaded(name: string): Promise<Response> {
  const response = await fetch(name)
  if (!response.ok) throw new Error(`${name} cannot be loaded: the server answered ${response.status}.`)
  return response
}

function connect({ name, lock, port }: ToDatabase & { readonly type: 'client' }): void {
  const client = { name }
  server!.connect(client, port)
  // It holds its lock before it asks anything. Requested earlier, the lock would be granted here at once.
  const watch = () =>
    // Granted once the client's thread is gone.
    void navigator.locks.request(lock, async () => {
      tell({ type: 'client_gone', name, rolledBack: await server!.disconnect(client) })
    })
  port.addEventListener('message', watch, { once: true })
}
