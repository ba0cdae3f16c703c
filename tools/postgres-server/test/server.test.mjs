import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
// biome-ignore lint/correctness/useImportExtensions: the rule takes the declarations beside this module for the module.
import { startPostgres } from '../src/index.mjs'

const SCRIPT = fileURLToPath(new URL('keep-running.mjs', import.meta.url))

async function ask(url, text) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function freeMemory() {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize
}

describe.each([18, 14])('PostgreSQL %i', (major) => {
  it('starts with its settings, creates databases, survives a restart, and leaves nothing behind', async () => {
    const server = await startPostgres({ major, settings: { max_connections: '42' } })

    const [facts] = await ask(
      server.url,
      `select current_setting('server_version') as version, current_setting('max_connections') as connections,
         current_setting('fsync') as fsync, current_setting('data_directory') as data`,
    )
    expect(facts).toMatchObject({ connections: '42', fsync: 'off' })
    expect(facts.version).toMatch(new RegExp(`^${major}\\.`))

    const template = await server.createDatabase()
    await ask(template, 'create table t as select 7 as seven')
    const copy = await server.createDatabase({ template: new URL(template).pathname.slice(1) })
    await server.restart()
    expect(await ask(copy, 'select seven from t')).toEqual([{ seven: 7 }])

    await server.stop()
    await server.stop()
    expect(existsSync(dirname(facts.data))).toBe(false)
    await expect(ask(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  })
})

it('does not answer while it is frozen, and keeps everything committed when it crashes', async () => {
  const server = await startPostgres({ settings: { synchronous_commit: 'on' } })
  const client = new pg.Client({ connectionString: server.url })
  // A broken connection may report twice: the server's last message, then the closed socket.
  const broken = new Promise((resolve) => client.on('error', resolve))
  await client.connect()
  await client.query('create table t as select 7 as seven')

  server.freeze()
  let answered = false
  const asked = client.query('select seven from t').then(() => {
    answered = true
  })
  // biome-ignore lint/style/noRestrictedGlobals: the time in which a server that is not frozen would answer.
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(answered).toBe(false)
  server.thaw()
  await asked

  await server.crash()
  await broken
  expect(await ask(server.url, 'select seven from t')).toEqual([{ seven: 7 }])
  await server.stop()
})

describe.each([18, 14])('a standby of PostgreSQL %i', (major) => {
  it('follows its server, lacks what it has not received once it is promoted, and can be followed itself', async () => {
    const server = await startPostgres({ major })
    await ask(server.url, 'create table t as select 1 as n')
    const standby = await server.startStandby()
    await ask(server.url, 'insert into t values (2)')
    const numbers = () => ask(standby.url, 'select n from t order by n')
    await expect.poll(numbers, { timeout: 20_000 }).toHaveLength(2)

    await standby.detach()
    await ask(server.url, 'insert into t values (3)')
    await server.kill()
    await standby.promote()
    const next = await standby.startStandby()

    expect(await numbers()).toEqual([{ n: 1 }, { n: 2 }])
    await ask(standby.url, 'insert into t values (4)')
    await expect.poll(() => ask(next.url, 'select max(n) as n from t')).toEqual([{ n: 4 }])
    for (const each of [next, standby, server]) await each.stop()
  })
})

it.skipIf(process.platform !== 'linux' || (await freeMemory()) < 4 * 1024 ** 3)(
  'keeps its data in memory where Linux has 4 GB of it for files, and leaves none there (skipped where it has not)',
  async () => {
    const server = await startPostgres({ inMemory: true })
    const [{ data }] = await ask(server.url, "select current_setting('data_directory') as data")
    expect(data).toMatch(/^\/dev\/shm\/belay-postgres-18-/)

    await server.stop()

    expect(existsSync(dirname(data))).toBe(false)
  },
)

it('writes to the disk if it is durable', async () => {
  const server = await startPostgres({ durable: true })
  expect(await ask(server.url, 'show fsync')).toEqual([{ fsync: 'on' }])
  expect(await ask(server.url, 'show synchronous_commit')).toEqual([{ synchronous_commit: 'on' }])
  await server.stop()
})

it.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGKILL'])(
  'ends with the process that started it, even by %s (skipped on Windows, which has no such guard)',
  async (signal) => {
    const owner = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(createInterface({ input: owner.stdout }), 'line')
    const { url, data } = JSON.parse(line)
    expect(existsSync(data)).toBe(true)

    owner.kill(signal)
    await once(owner, 'close')

    await vi.waitFor(() => expect(existsSync(dirname(data))).toBe(false), 10_000)
    await expect(ask(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  },
)

it('leaves no files when it cannot start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-no-server-'))
  await chmod(folder, 0o755)
  vi.stubEnv('TMPDIR', folder)
  try {
    await expect(startPostgres({ settings: { max_connections: 'many' } })).rejects.toThrow('max_connections')
    expect(await readdir(folder)).toEqual([])
  } finally {
    vi.unstubAllEnvs()
    await rm(folder, { recursive: true })
  }
})
