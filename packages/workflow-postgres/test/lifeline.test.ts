import { randomUUID } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { StoreUnavailableError, type WakeHint } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { migrate, type PostgresOptions, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { named } from './setup/sessions.ts'

const [server] = servers

/** Only for hangs. */
const HANG_MS = 60_000

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase(server!.url)
  await migrate(database.url)
})
afterAll(() => database.drop())

/** An adapter on an application's Pool. */
function onPool(max: number, options: PostgresOptions = {}) {
  const pool = new pg.Pool({ connectionString: database.url, max })
  const adapter = postgres(pool, options)
  onTestFinished(async () => {
    await adapter.close()
    await pool.end()
  })
  return { pool, adapter }
}

/** Takes every connection that is free in a pool, or is given back to it, for a while. */
async function takeAll(pool: pg.Pool, count: number) {
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()))
  return () => {
    for (const client of clients) client.release()
  }
}

describe('an application’s Pool whose connections are all in use', () => {
  it('does not cost a lease: one connection is kept for renewals', async () => {
    const { pool, adapter } = onPool(3)
    const workerId = randomUUID()
    await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 1_000 })
    await vi.waitFor(() => expect(pool.totalCount - pool.idleCount).toBe(1), 5_000)
    const release = await takeAll(pool, 2)

    for (let renewal = 0; renewal < 10; renewal += 1) {
      // biome-ignore lint/style/noRestrictedGlobals: three times the lease in all, by the server's clock.
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(await adapter.renew({ workerId, leaseMs: 1_000 })).not.toBe('lost')
    }
    const { rows } = await database.pool.query(
      `select lease_expires_at > now() as is_held from belay.workflow_workers where id = $1`,
      [workerId],
    )

    expect(rows).toEqual([{ is_held: true }])
    expect(pool.waitingCount).toBe(0)
    release()
  })

  it('gives its connection back when the last worker has gone', async () => {
    const { pool, adapter } = onPool(2)
    const workerId = randomUUID()
    await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 1_000 })
    await vi.waitFor(() => expect(pool.totalCount - pool.idleCount).toBe(1), 5_000)

    await adapter.deregisterWorker({ workerId })

    await vi.waitFor(() => expect(pool.totalCount - pool.idleCount).toBe(0), 5_000)
  })

  it('is reported when a renewal has to wait for a connection', async () => {
    const { pool, adapter } = onPool(1)
    const notices: string[] = []
    adapter.onNotice?.(({ code, message }) => notices.push(`${code}: ${message}`))
    const workerId = randomUUID()
    await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 1_200 })
    const release = await takeAll(pool, 1)

    const renewed = adapter.renew({ workerId, leaseMs: 1_200 })

    await vi.waitFor(() => expect(notices).toHaveLength(1), 5_000)
    expect(notices[0]).toMatch(/^pool_exhausted: .*the pool has 1 connection, none is free/)
    release()
    expect(await renewed).not.toBe('lost')
  })

  it('makes calls fail within a bounded time, and gives late connections back', async () => {
    const { pool, adapter } = onPool(1)
    await adapter.now()
    const release = await takeAll(pool, 1)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())

    const failed = adapter.now().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10_000)

    const error = await failed
    vi.useRealTimers()
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error).toMatchObject({
      message: expect.stringMatching(/of the 1 connection in the pool, 1 is in use.*raise the pool's `max`/),
    })
    release()
    expect(await adapter.now()).toBeGreaterThan(0)
  })

  it('that can never serve a transactional step is refused before any is run', () => {
    for (const max of [1, 2]) {
      expect(() => onPool(max).adapter.checkTransactions?.()).toThrow(/Raise its `max` to 3/)
    }
    expect(() => onPool(3).adapter.checkTransactions?.()).not.toThrow()
    expect(() => postgres(database.url).checkTransactions?.()).not.toThrow()
  })
})

describe('the lifeline', () => {
  it('counts among connectionsMax', async () => {
    const sessions = named(database.url)
    const adapter = postgres(sessions.url, { connectionsMax: 3 })
    onTestFinished(() => adapter.close())
    adapter.onWake(() => {})
    await Promise.all(Array.from({ length: 20 }, () => adapter.now()))
    await vi.waitFor(async () => expect(await sessions.sessions(database.pool)).toHaveLength(3), 5_000)
  })

  it('is replaced when the network has silently lost it, and its old session is terminated', async () => {
    const sessions = named(database.url)
    const way = await swallowing(sessions.url)
    const adapter = postgres(way.url, { connectionsMax: 2, queryTimeoutMs: 5_000 })
    const lease = { workerId: randomUUID(), leaseMs: 60_000 }
    await adapter.registerWorker({ ...lease, name: 'worker' })
    // The server counts a session before the lifeline knows which one it is, and can end only those that it knows. A renewal waits for that.
    expect(await adapter.renew(lease)).not.toBe('lost')
    await vi.waitFor(async () => expect(await sessions.sessions(database.pool)).toHaveLength(2), HANG_MS)
    const before = (await sessions.sessions(database.pool)).map(({ pid }) => pid)
    // Limits short enough to wait for would also expire on connections that work, on a busy machine. So the time that they measure is not the real one.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
      return adapter.close()
    })

    // Open connections are dead in both directions. New ones work, as by another route.
    way.swallow()
    const unanswered = Promise.allSettled([adapter.renew(lease), adapter.now()])
    await vi.advanceTimersByTimeAsync(5_000)

    // Each look also moves the time of the limits on, by less than they are.
    await vi.waitFor(async () => {
      expect(await adapter.renew(lease)).not.toBe('lost')
      const pids = (await sessions.sessions(database.pool)).map(({ pid }) => pid)
      expect(pids.filter((pid) => before.includes(pid))).toEqual([])
      expect(pids.length).toBeLessThanOrEqual(2)
    }, HANG_MS)
    await unanswered
    expect(await adapter.now()).toBeGreaterThan(0)
  })
})

describe('closing', () => {
  it('does not wait for ever for connections that are in use or silently lost', async () => {
    const sessions = named(database.url)
    const way = await swallowing(sessions.url)
    const adapter = postgres(way.url, { queryTimeoutMs: 60_000 })
    const workerId = randomUUID()
    await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 2_000 })
    const lent = await adapter.pool.connect()
    onTestFinished(() => lent.release(true))
    way.swallow()
    const stuck = adapter.now().catch((error: unknown) => error)
    const before = performance.now()

    await adapter.close()

    expect(performance.now() - before).toBeLessThan(10_000)
    expect(await stuck).toBeInstanceOf(Error)
  })
})

describe('hints between processes', () => {
  const listening = async () => {
    const sessions = named(database.url)
    const adapter = postgres(sessions.url)
    onTestFinished(() => adapter.close())
    const heard: (WakeHint | undefined)[] = []
    adapter.onWake((hint) => heard.push(hint))
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where application_name = $1 and query ilike 'listen%'`,
        [sessions.name],
      )
      expect(rows).toHaveLength(1)
    }, 5_000)
    return heard
  }

  it('name the definitions they are about, and draw a number', async () => {
    const heard = await listening()
    const sender = postgres(database.url)
    onTestFinished(() => sender.close())

    sender.wake([7, 12])

    await vi.waitFor(() => expect(heard).toHaveLength(1), 5_000)
    expect(heard[0]?.definitionIds).toEqual([7, 12])
    expect(heard[0]?.draw).toBeGreaterThanOrEqual(0)
    expect(heard[0]?.draw).toBeLessThan(1)
  })

  it('sent within a moment are merged into one, for all they name, or for any if one names none', async () => {
    const heard = await listening()
    // The first hint of a sender is sent at once: nothing was sent a moment before.
    const [first, second] = [postgres(database.url), postgres(database.url)]
    onTestFinished(async () => {
      await Promise.all([first.close(), second.close()])
    })

    first.wake([1])
    first.wake([2])
    first.wake([3, 2])
    await vi.waitFor(() => expect(heard).toHaveLength(2), 5_000)
    second.wake([1])
    second.wake([2])
    second.wake()
    await vi.waitFor(() => expect(heard).toHaveLength(4), 5_000)

    expect(heard.map((hint) => hint?.definitionIds)).toEqual([[1], [2, 3], [1], undefined])
  })

  it('from older versions or other senders are about any definition', async () => {
    const heard = await listening()
    for (const payload of ['', 'hello', '{"a":1}', '2 7', '0.5 x']) {
      await database.pool.query(`select pg_notify('belay:belay', $1)`, [payload])
    }
    await vi.waitFor(() => expect(heard).toHaveLength(5), 5_000)
    expect(heard).toEqual(Array.from({ length: 5 }, () => undefined))
  })

  it('about too many definitions for one payload are about any definition', async () => {
    const heard = await listening()
    const sender = postgres(database.url)
    onTestFinished(() => sender.close())
    sender.wake(Array.from({ length: 3_000 }, (_, id) => id + 1))
    await vi.waitFor(() => expect(heard).toEqual([undefined]), 5_000)
  })
})

/** A proxy to a database that on command swallows all open connections, as a firewall does. Later connections get through. */
async function swallowing(url: string) {
  const target = new URL(url)
  const open = new Set<{ isSwallowed: boolean; client: Socket; upstream: Socket }>()
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const way = { isSwallowed: false, client, upstream }
    open.add(way)
    client.on('data', (bytes) => way.isSwallowed || upstream.write(bytes))
    upstream.on('data', (bytes) => way.isSwallowed || client.write(bytes))
    client.on('error', () => {})
    upstream.on('error', () => {})
    // Not even the end of a connection gets through.
    client.on('close', () => way.isSwallowed || upstream.destroy())
    upstream.on('close', () => way.isSwallowed || client.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    for (const { client, upstream } of open) {
      client.destroy()
      upstream.destroy()
    }
  })
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as { port: number }).port)
  return {
    url: through.href,
    swallow() {
      for (const way of open) way.isSwallowed = true
    },
  }
}
