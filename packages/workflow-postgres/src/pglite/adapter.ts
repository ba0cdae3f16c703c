import {
  BelayError,
  checkArgument,
  checkOptions,
  having,
  type Kind,
  type OptionTable,
  Refusal,
  shown,
  yesOrNo,
} from '@belay/workflow/adapter'
import type { Store } from '@belay/workflow/store'
import type { PGlite, PGliteInterface } from '@electric-sql/pglite'
import { type SqlAdapter, sqlAdapter } from '../adapter.ts'
import type { SqlAdapterParts } from '../open-store.ts'
import { Notices } from '../postgres/notices.ts'
import { DEFAULT_SCHEMA, schemaName } from '../schema-name.ts'
import { sqlStore } from '../statements/store.ts'
import { localWakeup } from '../store/wakeup.ts'
import { expireWorkers } from '../workers/registration.ts'
import { pgliteConnection } from './connection.ts'
import type { DirectoryLock } from './directory-lock.ts'
import { notOpened } from './errors.ts'
import { givenTransactions } from './given-transaction.ts'
import { pgliteTransact } from './transact.ts'

/** Where the database is: a directory, one of PGlite's other places (`memory://`, `idb://…`), or the application's own instance. */
export type PgliteSource = string | PGliteInterface | undefined

export interface PgliteOptions {
  /** The Postgres schema of Belay's tables. Default `'belay'`. */
  readonly schema?: string | undefined
  /** Bring the schema up to date when the engine starts. Default true. */
  readonly autoMigrate?: boolean | undefined
  /**
   * Whether other processes, tabs or instances may use the same database. If true, a worker is presumed dead only when its lease has expired. If
   * false, `open()` declares all earlier workers dead, and their steps run again at once. Default: false in memory and in a directory. True for the
   * application's instance and for PGlite's other places, because nobody can tell who else uses them.
   */
  readonly shared?: boolean | undefined
}

const OPTIONS = {
  schema: { sets: "the Postgres schema of Belay's tables", takes: schemaName, default: DEFAULT_SCHEMA },
  autoMigrate: {
    sets: 'whether the schema is brought up to date when the engine starts',
    takes: yesOrNo,
    default: true,
  },
  shared: { sets: 'whether others may work on the same database', takes: yesOrNo },
} satisfies OptionTable

const INSTANCE = having<PGliteInterface>('an instance of PGlite', ['query'])

const SOURCE: Kind<PgliteSource> = {
  words: 'a directory, another place of PGlite like memory://, or an instance of PGlite',
  read(given) {
    if (given === undefined) return undefined
    if (typeof given !== 'string') return INSTANCE.read(given)
    return given.includes('\0') ? new Refusal(shown(given)) : given
  },
}

export interface PgliteAdapter extends SqlAdapter {
  /** The database, for the application's own tables. Available once `open()` has resolved. */
  readonly db: PGliteInterface
}

/**
 * Keeps workflows in PGlite, a PostgreSQL inside this process: in memory, in a directory, or in an instance that the application made. Belay never
 * closes such an instance.
 *
 * A directory belongs to one process at a time: `open()` throws `directory_in_use` if another process has it. Steps held by a process that is gone
 * run again at once, without waiting for its leases to expire. For an instance, the option `shared: false` has the same effect.
 *
 * @throws BelayError `invalid_option` for an unknown option or an unsuitable value.
 */
export function pglite(source?: PgliteSource, options: PgliteOptions = {}): PgliteAdapter {
  const { parts, database, notices } = pgliteParts(source, options)
  const onNotice: PgliteAdapter['onNotice'] = (listener) => notices.listen(listener)
  return Object.defineProperty(Object.assign(sqlAdapter(parts), { onNotice }), 'db', {
    get: database.get,
    enumerable: true,
  }) as PgliteAdapter
}

/** The store of the new engine, in the same databases. */
export function pgliteStore(source?: PgliteSource, options: PgliteOptions = {}): Store {
  return sqlStore(pgliteParts(source, options).parts)
}

function pgliteParts(source: PgliteSource, options: PgliteOptions) {
  const { schema, ...checked } = checkOptions('pglite()', options, OPTIONS)
  checkArgument('pglite()', 'the source', source, SOURCE)
  const database = typeof source === 'object' ? givenDatabase(source) : ownDatabase(source)
  const connection = pgliteConnection(database.get, schema)
  const shared = checked.shared ?? isSharedByDefault(source)
  const given = givenTransactions(schema)
  const notices = new Notices()
  const parts: SqlAdapterParts = {
    name: 'pglite',
    schema,
    connection,
    singleSession: true,
    given: given.connectionOf,
    transact: pgliteTransact(database.get, schema),
    wakeup: localWakeup(database.listeners),
    autoMigrate: checked.autoMigrate,
    tell: (notice) => notices.tell(notice),
    remedy: 'Remove autoMigrate: false, or call migrate() of this adapter.',
    connect: database.open,
    async onOpen(expire = expireWorkers) {
      // Unless this process has opened the store already, earlier workers belong to a process that is gone. But in a database that others may use,
      // such workers may be alive through any instance: their leases must expire.
      if (!shared && isFirstToOpen(database.get(), schema)) await connection.query(expire, [])
      await given.open(connection)
    },
    onOpenFailed: database.release,
    disconnect: database.close,
  }
  return { parts, database, notices }
}

interface Database {
  /** All listeners in this process that wait for work in this database. */
  readonly listeners: Set<() => void>
  open(): Promise<void>
  get(): PGliteInterface
  /** Lets go of a directory that could not be used: another process may try, or this one again. */
  release(): Promise<void>
  close(): Promise<void>
}

function givenDatabase(instance: PGliteInterface): Database {
  return {
    listeners: sharedBy(instance).listeners,
    async open() {
      await instance.waitReady
    },
    get: () => instance,
    async release() {},
    async close() {},
  }
}

function ownDatabase(place: string | undefined): Database {
  let opening: Promise<{ readonly db: PGlite; readonly lock: DirectoryLock | null }> | undefined
  let opened: PGlite | undefined
  return {
    listeners: new Set(),
    async open() {
      opening ??= openDatabase(place).catch((error: unknown) => {
        opening = undefined
        throw error
      })
      opened = (await opening).db
    },
    get() {
      if (opened !== undefined) return opened
      throw new BelayError(
        'store_unavailable',
        'The database is not open yet: await open() of the adapter first.',
      )
    },
    async release() {
      const open = await opening
      // What is in memory would be lost.
      if (open === undefined || open.lock === null) return
      opening = undefined
      opened = undefined
      await open.db.close().catch(() => {})
      open.lock.release()
    },
    async close() {
      const open = await opening
      try {
        await open?.db.close()
      } finally {
        open?.lock?.release()
      }
    },
  }
}

async function openDatabase(place: string | undefined) {
  const path = directoryOf(place)
  let lock: DirectoryLock | null = null
  try {
    lock = path === null ? null : await lockOf(path)
    // Loaded only here: an engine on an instance that runs elsewhere, as in another Web Worker, need not bundle it.
    const { PGlite } = await import('@electric-sql/pglite')
    const db = await (place === undefined ? PGlite.create() : PGlite.create(lock?.directory ?? place))
    return { db, lock }
  } catch (error) {
    lock?.release()
    throw BelayError.is(error) ? error : notOpened(place, error)
  }
}

/** A directory is locked, and a database in memory ends with its process. For all other places, nobody can tell who uses them. */
function isSharedByDefault(source: PgliteSource): boolean {
  if (typeof source === 'object') return true
  const isInMemory = source === undefined || source === '' || source.startsWith('memory://')
  return !isInMemory && directoryOf(source) === null
}

/** The path of a database in the file system; null for PGlite's other places. */
function directoryOf(place: string | undefined): string | null {
  if (place === undefined || place === '') return null
  if (place.startsWith('file://')) return place.slice('file://'.length)
  return /^[a-z-]+:\/\//.test(place) ? null : place
}

async function lockOf(path: string): Promise<DirectoryLock> {
  // Loaded only here: it needs a file system, and browsers have none.
  const { lockDirectory } = await import('./directory-lock.ts')
  return lockDirectory(path)
}

interface Shared {
  readonly listeners: Set<() => void>
  readonly openedSchemas: Set<string>
}

// By instance, because an application may give one instance to several adapters.
const shared = new WeakMap<PGliteInterface, Shared>()

function sharedBy(database: PGliteInterface): Shared {
  const known = shared.get(database) ?? { listeners: new Set(), openedSchemas: new Set() }
  shared.set(database, known)
  return known
}

function isFirstToOpen(database: PGliteInterface, schema: string): boolean {
  const { openedSchemas } = sharedBy(database)
  if (openedSchemas.has(schema)) return false
  openedSchemas.add(schema)
  return true
}
