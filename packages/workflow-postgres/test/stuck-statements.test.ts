import { randomUUID } from 'node:crypto'
import { startPostgres } from '@belay/postgres-server'
import { StoreContendedError, StoreUnavailableError } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'
import { mostWhile, named } from './setup/sessions.ts'

const QUERY_TIMEOUT_MS = 200

/** A started run and a registered worker for it. */
async function workFor(adapter: PostgresAdapter) {
  await adapter.open()
  const [definition] = await adapter.saveDefinitions([chain.record])
  const definitionId = definition!.id
  const workerId = randomUUID()
  await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 60_000, definitionIds: [definitionId] })
  const start = () =>
    adapter.startRuns([{ runId: randomUUID(), definitionId, workflow: 'chain', key: null, input: null }])
  await start()
  return {
    workerId,
    start,
    claim: () => adapter.claim({ workerId, definitionIds: [definitionId], limit: 10 }),
  }
}

async function repeatFor(ms: number, call: () => Promise<unknown>): Promise<unknown[]> {
  const failures: unknown[] = []
  const until = performance.now() + ms
  while (performance.now() < until) await call().catch((error: unknown) => failures.push(error))
  return failures
}

/** As many calls at once as a busy worker makes. */
const many = (ms: number, call: () => Promise<unknown>) =>
  Promise.all(Array.from({ length: 6 }, () => repeatFor(ms, call))).then((failures) => failures.flat())

describe.each(servers)('a statement that waits for a lock on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    const adapter = postgres(database.url, { autoMigrate: true })
    await adapter.open()
    await adapter.close()
  })
  afterAll(() => database.drop())

  /** Locks one of Belay's tables, as a migration or VACUUM FULL does. */
  async function lock(table = 'workflow_ready'): Promise<() => Promise<void>> {
    const client = await database.pool.connect()
    await client.query(`begin; lock table belay.${table} in access exclusive mode`)
    let isHeld = true
    const unlock = async () => {
      if (!isHeld) return
      isHeld = false
      await client.query('rollback')
      client.release()
    }
    onTestFinished(unlock)
    return unlock
  }

  const opened = (options: { connectionsMax?: number } = {}) => {
    const sessions = named(database.url)
    const adapter = postgres(sessions.url, { queryTimeoutMs: QUERY_TIMEOUT_MS, ...options })
    onTestFinished(() => adapter.close())
    return { adapter, sessions }
  }

  it('ends with a definite error, and such a claim leases nothing later', async () => {
    const { adapter, sessions } = opened()
    const { claim, workerId } = await workFor(adapter)
    const unlock = await lock()

    const error = await claim().catch((failure: unknown) => failure)

    expect(error).toBeInstanceOf(StoreContendedError)
    expect(error).toMatchObject({
      code: 'store_contended',
      message: expect.stringContaining(`${QUERY_TIMEOUT_MS / 2} ms`),
    })
    await unlock()
    const busy = async () =>
      (await sessions.sessions(database.pool)).filter(({ state }) => state === 'active')
    // The client has the error a moment before the server calls the session idle.
    await vi.waitFor(async () => expect(await busy()).toEqual([]), 10_000)
    expect(await adapter.held({ workerId })).toEqual([])
    expect(await claim()).toMatchObject({ claims: [{ step: 0 }] })
  })

  it('leaves no more sessions than connectionsMax, for ten times its limit', async () => {
    const { adapter, sessions } = opened({ connectionsMax: 3 })
    const { claim, start } = await workFor(adapter)
    await lock()
    const calls = Promise.all([many(10 * QUERY_TIMEOUT_MS, claim), many(10 * QUERY_TIMEOUT_MS, start)])

    const most = await mostWhile(calls, async () => (await sessions.sessions(database.pool)).length)

    expect((await calls).flat().length).toBeGreaterThan(10)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(3)
  })

  it('does not block the renewal of a lease, even if every other connection is stuck', async () => {
    const { adapter } = opened({ connectionsMax: 2 })
    const { claim, workerId } = await workFor(adapter)
    await lock()
    const stuck = many(5 * QUERY_TIMEOUT_MS, claim)
    const lateBy: number[] = []
    const renewals = repeatFor(5 * QUERY_TIMEOUT_MS, async () => {
      const before = performance.now()
      expect(await adapter.renew({ workerId, leaseMs: 3_000 })).not.toBe('lost')
      lateBy.push(performance.now() - before)
      // biome-ignore lint/style/noRestrictedGlobals: a pause between two renewals.
      await new Promise((resolve) => setTimeout(resolve, 50))
    })

    expect(await renewals).toEqual([])
    await stuck
    // On the pool, each renewal would have waited behind six calls, each for its lock limit.
    expect(Math.max(...lateBy)).toBeLessThan(3 * QUERY_TIMEOUT_MS)
    expect(lateBy.length).toBeGreaterThan(5)
  })

  it('on a Pool of the application’s is cancelled in the server, and leaves no more sessions than the Pool has', async () => {
    const sessions = named(database.url)
    const pool = new pg.Pool({ connectionString: sessions.url, max: 3 })
    const adapter = postgres(pool, { queryTimeoutMs: QUERY_TIMEOUT_MS })
    onTestFinished(async () => {
      await adapter.close()
      await pool.end()
    })
    const { claim, workerId } = await workFor(adapter)
    const unlock = await lock()
    const calls = many(10 * QUERY_TIMEOUT_MS, claim)

    const most = await mostWhile(calls, async () => (await sessions.sessions(database.pool)).length)

    expect(most).toBeLessThanOrEqual(3)
    expect(await claim().catch((error: unknown) => error)).toBeInstanceOf(StoreContendedError)
    await unlock()
    expect(await adapter.held({ workerId })).toEqual([])
  })
})

describe.skipIf(process.env['DATABASE_URL'] !== undefined)(
  'a server (skipped on a given server: it is not ours to stop)',
  () => {
    /** A server to be maltreated, an adapter on it, and an observer. */
    async function maltreated(settings: Record<string, string> = {}) {
      const server = await startPostgres({ major: 18, inMemory: true, settings })
      const sessions = named(server.url)
      const observer = new pg.Pool({ connectionString: server.url, max: 1 })
      observer.on('error', () => {})
      const adapter = postgres(sessions.url, {
        autoMigrate: true,
        connectionsMax: 3,
        queryTimeoutMs: QUERY_TIMEOUT_MS,
      })
      onTestFinished(async () => {
        await adapter.close()
        await observer.end()
        await server.stop()
      })
      return { server, adapter, observer, sessions: () => sessions.sessions(observer) }
    }

    it('that is frozen fails calls in time, and has no session too many when it continues', async () => {
      const { server, adapter, sessions } = await maltreated()
      const { claim, workerId } = await workFor(adapter)
      await Promise.all([adapter.now(), adapter.now()])
      onTestFinished(() => server.thaw())
      server.freeze()

      // Two connections are lent and never come back; no caller gets a third.
      const first = await Promise.all([claim(), claim()].map((call) => call.catch((error: unknown) => error)))
      for (const error of first) expect(error).toBeInstanceOf(StoreUnavailableError)
      const waiting = many(QUERY_TIMEOUT_MS, claim)
      expect(adapter.pool.totalCount).toBe(2)
      server.thaw()

      const most = await mostWhile(waiting, async () => (await sessions()).length)
      expect(most).toBeLessThanOrEqual(3)
      await vi.waitFor(async () => expect((await claim()) === 'lost').toBe(false), 5_000)
      expect(await adapter.renew({ workerId, leaseMs: 60_000 })).not.toBe('lost')
      expect((await sessions()).length).toBeLessThanOrEqual(3)
    })

    it('whose sessions hang one after another has no session too many, and those are gone when they continue', async () => {
      const { adapter, observer, sessions } = await maltreated()
      const { claim } = await workFor(adapter)
      const hung = new Set<number>()
      const goOn = () => {
        for (const pid of hung) if (isThere(pid)) process.kill(pid, 'SIGCONT')
      }
      onTestFinished(goOn)
      // Sessions that claim: not the lifeline, which last listened or renewed a lease, and not the observer.
      const hang = async () => {
        const all = await sessions()
        for (const { pid, query } of all) {
          if (!query.includes('due_definitions') || hung.has(pid)) continue
          hung.add(pid)
          process.kill(pid, 'SIGSTOP')
        }
        return all.length
      }

      // Long enough for parked sessions to be cancelled and then terminated.
      const calls = many(4_000, claim)
      // biome-ignore lint/style/noRestrictedGlobals: a second longer than the calls, for sessions that come late.
      const most = await mostWhile(new Promise((resolve) => setTimeout(resolve, 5_000)), hang)

      expect(most).toBeLessThanOrEqual(3)
      expect(hung.size).toBe(2)
      goOn()
      await calls
      await vi.waitFor(async () => {
        expect((await claim()) === 'lost').toBe(false)
        expect((await sessions()).filter(({ pid }) => hung.has(pid))).toEqual([])
      }, 10_000)
      expect((await observer.query('select 1')).rows).toHaveLength(1)
    })

    it('whose commits wait for a missing standby has no session too many and acknowledges nothing, and continues with the standby', async () => {
      const { server, adapter, observer, sessions } = await maltreated({ synchronous_commit: 'on' })
      const { workerId, start } = await workFor(adapter)
      await Promise.all([adapter.now(), adapter.now()])
      const standbys = async (names: string) => {
        await observer.query(`alter system set synchronous_standby_names = '${names}'`)
        await observer.query('select pg_reload_conf()')
      }
      await observer.query('create table canary (at int)')
      await standbys('nobody')
      await commitsHang(server.url, observer)
      const replicating = async () =>
        (await sessions()).filter((session) => session.wait_event === 'SyncRep').map(({ pid }) => pid)

      const first = await Promise.all([start(), start()].map((call) => call.catch((error: unknown) => error)))
      const stuck = await replicating()
      const calls = Promise.all(
        [start(), start(), start()].map((call) => call.catch((error: unknown) => error)),
      )
      // Long enough for parked sessions to be checked, cancelled and terminated, if that happened.
      const looks = repeatFor(5_000, async () => {
        expect(await adapter.renew({ workerId, leaseMs: 60_000 })).not.toBe('lost')
        // biome-ignore lint/style/noRestrictedGlobals: a pause between two renewals.
        await new Promise((resolve) => setTimeout(resolve, 100))
      })
      const most = await mostWhile(looks, async () => (await sessions()).length)

      for (const error of first) expect(error).toBeInstanceOf(StoreUnavailableError)
      expect(await looks).toEqual([])
      expect(stuck).toHaveLength(2)
      expect((await replicating()).toSorted()).toEqual(stuck.toSorted())
      expect(most).toBeLessThanOrEqual(3)

      await standbys('')
      // They waited for a connection, and may have waited too long.
      for (const result of await calls)
        if (result instanceof Error) expect(result).toBeInstanceOf(StoreUnavailableError)
      expect(await start()).toMatchObject([{ created: true }])
    })
  },
)

/** The server applies its new settings asynchronously: another commit shows when. */
async function commitsHang(url: string, observer: Pick<pg.Client, 'query'>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const waiting = `select from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'`
  let hangs = false
  let isOver = false
  while (!hangs) {
    isOver = false
    const commit = client.query('insert into canary values (1)').catch(() => {})
    void commit.finally(() => {
      isOver = true
    })
    await vi.waitUntil(async () => {
      hangs = (await observer.query(waiting, [rows[0]!.pid])).rowCount === 1
      return hangs || isOver
    }, 10_000)
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
