import { connect, createServer, type Socket } from 'node:net'
import { createEngine, define, unchecked } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { migrate, type PostgresOptions, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const order = define('order', { version: 1, input: unchecked<{ readonly sku: string }>() }).step('reserve', {
  run: ({ input }) => input.sku,
})

describe.each(servers)('a process that starts runs and ends, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await migrate(database.url)
  })
  afterAll(() => database.drop())

  it.each<[string, PostgresOptions]>([
    ['by default', {}],
    ['with connectionsMax: 1', { connectionsMax: 1 }],
  ])('opens one connection for a run and closes it, %s', async (_, options) => {
    const counted = await counting(database.url)

    const engine = createEngine({ adapter: postgres(counted.url, options), workflows: [order] })
    const { id } = await engine.run(order, { sku: 'rope' })
    await engine[Symbol.asyncDispose]()

    expect(counted.opened()).toBe(1)
    await vi.waitFor(() => expect(counted.open()).toBe(0), 10_000)
    expect(await statusOf(id)).toBe('running')
  })

  it('opens no more for several runs at once than connectionsMax allows', async () => {
    const counted = await counting(database.url)

    const adapter = postgres(counted.url, { connectionsMax: 1 })
    const engine = createEngine({ adapter, workflows: [order] })
    await Promise.all(['rope', 'axe', 'tent'].map((sku) => engine.run(order, { sku })))
    await engine[Symbol.asyncDispose]()

    expect(counted.opened()).toBe(1)
  })

  it('opens none if it starts nothing', async () => {
    const counted = await counting(database.url)

    const engine = createEngine({ adapter: postgres(counted.url), workflows: [order] })
    await engine[Symbol.asyncDispose]()

    expect(counted.opened()).toBe(0)
  })

  it('may dispose of an adapter that no engine has', async () => {
    const adapter = postgres(database.url)
    await adapter.open()

    await adapter[Symbol.asyncDispose]()

    await expect(adapter.now()).rejects.toMatchObject({ code: 'engine_closed' })
  })

  async function statusOf(id: string) {
    const { rows } = await database.pool.query('select status from belay.workflow_runs where id = $1', [id])
    return rows[0]?.status
  }
})

/** A way to the server that counts the connections made over it. */
async function counting(url: string) {
  const target = new URL(url)
  const open = new Set<Socket>()
  let opened = 0
  const proxy = createServer((client) => {
    opened += 1
    open.add(client)
    const upstream = connect(Number(target.port), target.hostname)
    client.pipe(upstream).pipe(client)
    client.on('error', () => {})
    upstream.on('error', () => {})
    client.on('close', () => open.delete(client))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    for (const socket of open) socket.destroy()
  })
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as { port: number }).port)
  return { url: through.href, opened: () => opened, open: () => open.size }
}
