import { randomBytes } from 'node:crypto'
import { access, chmod, chown, constants, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { locateBinaries } from './binaries.mjs'
import { guardAgainstOrphans, run, spawnServer } from './process.mjs'
import { copyAsStandby } from './standby.mjs'
import { unprivilegedUser } from './user.mjs'

export { createPglite, createPgliteDirectory } from './pglite.mjs'

/**
 * @typedef {object} PostgresServer
 * @property {string} url of the database `postgres`
 * @property {number} port
 * @property {() => Promise<void>} stop ends the server and removes its files; idempotent
 * @property {(options?: { whileDown?: () => Promise<void> }) => Promise<void>} restart the way a crash or a failover looks to clients: every
 *   connection is cut, nothing is lost; it comes back when `whileDown` has ended
 * @property {() => void} freeze stops every process of the server where it is (SIGSTOP): connections stay open, and nothing answers. Linux only
 * @property {() => void} thaw lets them go on
 * @property {() => Promise<void>} crash kills every process of the server (SIGKILL) and starts it again. Linux only
 * @property {() => Promise<void>} kill kills every process of the server (SIGKILL) and leaves it dead. Linux only
 * @property {() => Promise<PostgresServer>} startStandby starts another server that follows this one, asynchronously, and can be read from
 * @property {() => Promise<void>} detach ends what a standby receives: it loses what comes after
 * @property {() => Promise<void>} promote makes a standby a server of its own, with all that it has received
 * @property {(options?: { template?: string }) => Promise<string>} createDatabase a fresh database's url
 */

/**
 * Starts a temporary PostgreSQL server from npm's binaries, on a free loopback port and without a socket, as root or not. It ends with this process,
 * however that ends.
 *
 * @param {{ major?: 14 | 18, settings?: Record<string, string>, durable?: boolean, inMemory?: boolean }} [options]
 * `durable` keeps fsync on, for benchmarks; otherwise commits do not reach the disk. `inMemory` keeps the data in memory where there is enough of it.
 * @returns {Promise<PostgresServer>}
 */
export function startPostgres({ major = 18, settings = {}, durable = false, inMemory = false } = {}) {
  return startServer({ major, settings, durable, inMemory, of: null })
}

/** A new server, or a standby `of` another. */
async function startServer({ major, settings, durable, inMemory, of }) {
  const user = await unprivilegedUser()
  const { home, folder, removeFiles } = await makeFolders({ major, inMemory })
  const launched = await launch({ major, home, folder, user, durable, settings, of }).catch(async (error) => {
    await removeFiles()
    throw error
  })
  const { postgres, data, port, args } = launched
  let { server } = launched
  const guard = guardAgainstOrphans(data, [home, folder])
  let dead = false

  const url = (database) => `postgres://postgres@127.0.0.1:${port}/${database}`
  let stopped = false
  return {
    url: url('postgres'),
    port,
    async stop() {
      if (stopped) return
      stopped = true
      if (!dead) await server.end('SIGINT')
      guard.dismiss()
      await removeFiles()
    },
    async restart({ whileDown } = {}) {
      await server.end('SIGINT')
      await whileDown?.()
      server = await spawnServer(postgres, args, user)
    },
    freeze() {
      server.signalAll('SIGSTOP')
    },
    thaw() {
      server.signalAll('SIGCONT')
    },
    async crash() {
      await server.killAll()
      server = await spawnServer(postgres, args, user)
    },
    async kill() {
      dead = true
      await server.killAll()
    },
    startStandby: () =>
      startServer({ major, settings, durable, inMemory, of: { url: url('postgres'), from: data, port } }),
    ...verbsOver(url, major),
  }
}

/** What is done with a server over connections. */
function verbsOver(url, major) {
  const own = url('postgres')
  return {
    async detach() {
      await ask(own, "alter system set primary_conninfo = ''")
      await ask(own, 'select pg_reload_conf()')
      await ask(own, RECEIVES_NOTHING)
    },
    async promote() {
      await ask(own, 'select pg_promote(true, 60)')
    },
    async createDatabase({ template } = {}) {
      const name = `db_${randomBytes(6).toString('hex')}`
      await createDatabase({ url: own, name, template, copyFiles: major >= 15 })
      return url(name)
    },
  }
}

async function makeFolders({ major, inMemory }) {
  const prefix = `belay-postgres-${major}-`
  const home = await mkdtemp(join(tmpdir(), prefix))
  const folder = inMemory && (await hasMemory()) ? await mkdtemp(join(MEMORY, prefix)) : home
  const removeFiles = async () => {
    for (const own of new Set([home, folder])) await rm(own, { recursive: true, force: true })
  }
  return { home, folder, removeFiles }
}

/**
 * Files in memory, where Linux has them. The tests make and remove tens of thousands of files: ext4, which leaves the number of a removed file alone for
 * some seconds, spends more time on finding free numbers than the server on its statements.
 */
const MEMORY = '/dev/shm'
const MEMORY_MIN_BYTES = 4 * 1024 ** 3

/** Whether the data of a test run has room in memory: containers often have 64 MB. */
async function hasMemory() {
  try {
    await access(MEMORY, constants.W_OK)
    const { bavail, bsize } = await statfs(MEMORY)
    return bavail * bsize >= MEMORY_MIN_BYTES
  } catch {
    return false
  }
}

async function launch({ major, home, folder, user, durable, settings, of }) {
  // postgres opens its data directory by full path, so its user must be able to reach it.
  for (const own of [home, folder]) await chmod(own, 0o755)
  const { initdb, postgres } = await locateBinaries(major, home, user)
  const data = join(folder, 'data')
  if (of === null) await initialise(data, initdb, user)
  else await copyAsStandby({ ...of, major, to: data, user })
  const port = await freePort()
  const args = serverArguments({ data, port, durable, settings })
  return { postgres, data, port, args, server: await spawnServer(postgres, args, user) }
}

async function initialise(data, initdb, user) {
  await mkdir(data, { mode: 0o700 })
  if (user !== null) await chown(data, user.uid, user.gid)
  await run(
    initdb,
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    user,
  )
}

function serverArguments({ data, port, durable, settings }) {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    // A standby reads the log that was written since its copy was begun.
    wal_keep_size: '1GB',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...settings,
  }
  return ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function createDatabase({ url, name, template, copyFiles }) {
  const from = template === undefined ? 'template0' : template
  // Copying files is faster than writing the whole template through the log, and is the only way before 15.
  await ask(url, `create database ${name} template ${from}${copyFiles ? ' strategy file_copy' : ''}`)
}

/** Waits until the receiver of the log has ended. Promoting a standby replays all that it has received. */
const RECEIVES_NOTHING = `do $$ begin
  while exists (select from pg_stat_get_wal_receiver() r where r.pid is not null) loop perform pg_sleep(0.01); end loop;
end $$`

async function ask(url, text) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
      probe.close(() => resolve(port))
    })
  })
}
