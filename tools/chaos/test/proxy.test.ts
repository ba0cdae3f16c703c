import { startPostgres } from '@belay/postgres-server'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { TcpProxy } from '../src/network/proxy.ts'
import { settlesWithin, until } from '../src/pause.ts'

let server: Awaited<ReturnType<typeof startPostgres>>

beforeAll(async () => {
  server = await startPostgres({ inMemory: true })
})

afterAll(() => server.stop())

/** A proxy in front of the server, and one connection through it. */
async function given({ onTestFinished }: TestContext) {
  const proxy = await TcpProxy.open(server.port)
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
  const connect = async () => {
    const client = new pg.Client({ connectionString: url, application_name: 'proxied' })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => void client.end().catch(() => {}))
    return client
  }
  const direct = new pg.Client({ connectionString: server.url })
  await direct.connect()
  await direct.query('create table if not exists written (id integer)')
  await direct.query('truncate written')
  onTestFinished(async () => {
    await direct.end()
    await proxy.close()
  })
  const written = async () => (await direct.query('select id from written')).rows.length
  return { proxy, connect, direct, written }
}

describe('the proxy', () => {
  it('passes everything through, and knows the backend of each connection', async (context) => {
    const { proxy, connect } = await given(context)
    const client = await connect()
    const pids: number[] = []

    proxy.watchCommits((pid) => pids.push(pid))
    await client.query('begin')
    await client.query('commit')

    const { rows } = await client.query('select pg_backend_pid() as pid')
    expect(pids).toEqual([rows[0].pid])
  })

  it('delays chunks and keeps their order', async (context) => {
    const { proxy, connect } = await given(context)
    const client = await connect()

    proxy.delay(60)
    const startedAt = performance.now()
    const { rows } = await client.query(
      'select repeat(md5(n::text), 1000) as line from generate_series(1, 20) n',
    )

    expect(performance.now() - startedAt).toBeGreaterThan(100)
    expect(rows.every(({ line }) => line.length === 32_000)).toBe(true)
  })

  it('resets connections, and accepts new ones', async (context) => {
    const { proxy, connect } = await given(context)
    const client = await connect()

    proxy.reset()

    await expect(client.query('select 1')).rejects.toThrow()
    await expect((await connect()).query('select 1')).resolves.toBeDefined()
  })

  it('goes silent: nothing is answered or closed, and queries sent meanwhile stay unanswered', async (context) => {
    const { proxy, connect, written } = await given(context)
    const client = await connect()

    proxy.goSilent()
    const asked = client.query('insert into written values (1)')
    const answered = await settlesWithin(asked, 200)
    proxy.endSilence()

    expect(answered).toBe(false)
    expect(await settlesWithin(asked, 200)).toBe(false)
    expect(await written()).toBe(0)
    await expect((await connect()).query('select 1')).resolves.toBeDefined()
  })

  it('drops the answer of a COMMIT after it has happened', async (context) => {
    const { proxy, connect, written } = await given(context)
    const client = await connect()
    await client.query('begin')
    await client.query('insert into written values (1)')

    proxy.dropCommits(1)

    await expect(client.query('commit')).rejects.toThrow()
    expect(await written()).toBe(1)
  })

  it('drops the answer of a statement after it has happened, and of no more statements than it was told', async (context) => {
    const { proxy, connect, written } = await given(context)
    const [client, other] = [await connect(), await connect()]

    proxy.dropReplies(1)

    await expect(client.query('insert into written values ($1)', [1])).rejects.toThrow()
    await other.query('insert into written values ($1)', [2])
    expect(await written()).toBe(2)
  })

  it('refuses connections until it accepts them again on the same port', async (context) => {
    const { proxy, connect } = await given(context)
    await connect()

    await proxy.refuse()
    await expect(connect()).rejects.toThrow('ECONNREFUSED')
    await proxy.heal()

    await expect((await connect()).query('select 1')).resolves.toBeDefined()
  })

  it('leaves no backend behind once a silence is over', async (context) => {
    const { proxy, connect, direct } = await given(context)
    const client = await connect()
    const backends = async () => {
      const { rows } = await direct.query(
        `select count(*)::integer as count from pg_stat_activity where application_name = 'proxied'`,
      )
      return rows[0].count as number
    }
    // The backends of other tests may still be ending.
    await until(5_000, 20, async () => (await backends()) === 1)

    proxy.goSilent()
    void client.query('select 1').catch(() => {})
    void client.end().catch(() => {})
    proxy.reset()
    proxy.endSilence()

    expect(await until(5_000, 20, async () => (await backends()) === 0)).toBe(true)
  })
})
