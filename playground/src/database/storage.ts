import { MemfsFrontendFS, type StorageBackend, type StorageEntry } from '@electric-sql/pglite/memfs-frontend'

const PAGE_BYTES = 8_192
const STORES = ['gone', 'files', 'pages'] as const
const PREFIX = 'belay-playground-'
/** Where PGlite mounts it. */
const ROOT = '/pglite/data'

type Changes = Parameters<StorageBackend['apply']>[0]
type PageKey = readonly [path: string, page: number]

/**
 * The snapshot in memory, and what was changed since in IndexedDB: `gone` names files whose bytes in the snapshot do not count, `files` holds sizes
 * (-1: a folder), `pages` what was written. All changes of a commit are one transaction, so that a reload finds all of them or none.
 */
export class Storage extends MemfsFrontendFS {
  /** `changes`: undefined keeps nothing. */
  constructor(snapshot: Uint8Array<ArrayBuffer>, changes: IDBDatabase | undefined) {
    const read = (path: string, at: number, bytes: number) => {
      const { FS } = this.pg!.Module
      const stream = FS.open(`${ROOT}${path}`, 'r')
      const page = new Uint8Array(bytes)
      FS.read(stream, page, 0, bytes, at)
      FS.close(stream)
      return page
    }
    super({
      init: async () => {},
      load: () => entries(snapshot, changes),
      apply: async (given) => changes && write(changes, given, read),
      close: async () => changes?.close(),
    })
  }

  /** PGlite would wait after each statement, and all others with it. */
  override async syncToFs(): Promise<void> {}

  /** Resolves once all that was written before is stored, together with what is written until the flush before has ended. */
  stored(): Promise<void> {
    return super.syncToFs()
  }
}

/** Opens what was stored on this snapshot; what was stored on another one cannot be read any more, and goes. Rejects if the browser refuses storage. */
export async function openChanges(snapshotId: string, fresh: boolean): Promise<IDBDatabase> {
  const name = PREFIX + snapshotId
  for (const stored of await indexedDB.databases()) {
    const isOurs = stored.name?.startsWith(PREFIX)
    if (isOurs && (fresh || stored.name !== name)) await done(indexedDB.deleteDatabase(stored.name!))
  }
  const opening = indexedDB.open(name)
  opening.onupgradeneeded = () => {
    for (const store of STORES) opening.result.createObjectStore(store)
  }
  return done(opening)
}

export async function isEmpty(changes: IDBDatabase): Promise<boolean> {
  return (await done(changes.transaction('files').objectStore('files').count())) === 0
}

async function* entries(snapshot: Uint8Array<ArrayBuffer>, changes: IDBDatabase | undefined) {
  const files = untar(snapshot)
  if (changes !== undefined) await readInto(files, changes)
  const paths = [...files.keys()].sort()
  for (const path of paths) {
    const data = files.get(path)!
    yield (data === 'folder' ? { kind: 'dir', path } : { kind: 'file', path, data }) satisfies StorageEntry
  }
}

type Files = Map<string, Uint8Array | 'folder'>

async function readInto(files: Files, changes: IDBDatabase): Promise<void> {
  const reading = changes.transaction(STORES)
  const [gone, paths, sizes, keys, pages] = await Promise.all([
    done(reading.objectStore('gone').getAllKeys() as IDBRequest<string[]>),
    done(reading.objectStore('files').getAllKeys() as IDBRequest<string[]>),
    done(reading.objectStore('files').getAll() as IDBRequest<number[]>),
    done(reading.objectStore('pages').getAllKeys() as unknown as IDBRequest<PageKey[]>),
    done(reading.objectStore('pages').getAll() as IDBRequest<Uint8Array[]>),
  ])
  const isGone = new Set(gone)
  for (const path of files.keys()) if (parents(path).some((part) => isGone.has(part))) files.delete(path)
  for (const [index, path] of paths.entries()) files.set(path, resized(files.get(path), sizes[index]!))
  keys.forEach(([path, page], index) => {
    const contents = files.get(path) as Uint8Array
    const at = page * PAGE_BYTES
    contents.set(pages[index]!.subarray(0, Math.max(0, contents.length - at)), at)
  })
}

function resized(before: Uint8Array | 'folder' | undefined, size: number): Uint8Array | 'folder' {
  if (size < 0) return 'folder'
  const contents = new Uint8Array(size)
  if (before instanceof Uint8Array) contents.set(before.subarray(0, size))
  return contents
}

/** `/a/b` is in `/a` and in itself. */
function parents(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 2).join('/'))
}

function write(
  changes: IDBDatabase,
  { ops, files }: Changes,
  read: (path: string, at: number, bytes: number) => Uint8Array,
): Promise<void> {
  // A reload loses nothing of it once it has completed; only the machine's own crash might.
  const writing = changes.transaction(STORES, 'readwrite', { durability: 'relaxed' })
  const gone = writing.objectStore('gone')
  const sizes = writing.objectStore('files')
  const pages = writing.objectStore('pages')
  const forget = (path: string) => {
    gone.put(true, path)
    sizes.delete(path)
    sizes.delete(IDBKeyRange.bound(`${path}/`, `${path}0`))
    pages.delete(IDBKeyRange.bound([path], [path, []]))
    pages.delete(IDBKeyRange.bound([`${path}/`], [`${path}0`]))
  }
  for (const { op, path } of ops) {
    if (op === 'remove') forget(path)
    else sizes.put(-1, path)
  }
  for (const { path, size, full, chunks } of [...files.wal, ...files.data, ...files.control]) {
    if (full) forget(path)
    sizes.put(size, path)
    for (const page of pagesOf(chunks)) {
      const at = page * PAGE_BYTES
      const bytes = read(path, at, Math.min(PAGE_BYTES, size - at))
      // A new segment of the log has 16 MB of zeros.
      if (!full || bytes.some((byte) => byte !== 0)) pages.put(bytes, [path, page])
    }
  }
  return new Promise((resolve, reject) => {
    writing.oncomplete = () => resolve()
    writing.onabort = () => reject(writing.error)
  })
}

function pagesOf(chunks: Changes['files']['wal'][number]['chunks']): ReadonlySet<number> {
  const pages = new Set<number>()
  for (const { at, data } of chunks) {
    for (let page = Math.floor(at / PAGE_BYTES); page * PAGE_BYTES < at + data.length; page += 1)
      pages.add(page)
  }
  return pages
}

/** The files of an archive, as parts of it: nothing is copied. */
function untar(archive: Uint8Array<ArrayBuffer>): Files {
  const BLOCK = 512
  const decoder = new TextDecoder()
  const text = (from: number, to: number) => decoder.decode(archive.subarray(from, to)).replace(/\0.*$/s, '')
  const files: Files = new Map()
  for (let at = 0; at < archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, at + 136), 8) || 0
    const path = `/${text(at, at + 100)
      .replace(/^\.?\//, '')
      .replace(/\/$/, '')}`
    const isFolder = text(at + 156, at + 157) === '5'
    if (path !== '/') files.set(path, isFolder ? 'folder' : archive.subarray(at + BLOCK, at + BLOCK + size))
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return files
}

function done<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
