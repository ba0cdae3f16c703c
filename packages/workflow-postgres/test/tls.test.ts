import { startPostgres } from '@belay/postgres-server'
import { createEngine } from '@belay/workflow'
import { BelayError } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { selfSigned } from './setup/certificate.ts'

type Server = Awaited<ReturnType<typeof startPostgres>>

/** Writes a file into the server's data directory, as the server's user. */
const WRITE = (name: string) =>
  `copy (select unnest(string_to_array(current_setting('belay_test.text'), E'\\n'))) to program 'umask 077; cat > ${name}'`

async function turnOnTls(url: string, { certificate, key }: ReturnType<typeof selfSigned>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const [name, text] of Object.entries({ 'server.crt': certificate, 'server.key': key })) {
    await client.query(`select set_config('belay_test.text', $1, false)`, [text])
    await client.query(WRITE(name))
  }
  await client.query('alter system set ssl = on')
  await client.query('select pg_reload_conf()')
  await client.end()
}

describe('the first contact over TLS', () => {
  const issued = selfSigned('db.example')
  let plain: Server
  let secured: Server
  beforeAll(async () => {
    ;[plain, secured] = await Promise.all([
      startPostgres({ inMemory: true }),
      startPostgres({ inMemory: true }),
    ])
    await turnOnTls(secured.url, issued)
  })
  afterAll(() => Promise.all([plain.stop(), secured.stop()]))

  const place = (server: Server, query: string) => {
    const url = new URL(`${server.url}?${query}`)
    url.password = 'secret'
    return url.href
  }
  const rejection = (promise: Promise<unknown>): Promise<BelayError> =>
    promise.then(
      () => expect.fail('was expected to be rejected'),
      (error: BelayError) => error,
    )

  const cases: readonly [string, () => pg.PoolConfig, RegExp, RegExp][] = [
    [
      'with a server that has none',
      () => ({ connectionString: place(plain, 'sslmode=require') }),
      /does not support SSL/,
      /sslmode=disable/,
    ],
    [
      'with a certificate that nobody known has signed',
      () => ({ connectionString: place(secured, 'sslmode=verify-full') }),
      /self-signed certificate/,
      /sslrootcert/,
    ],
    [
      'with a certificate for another host name',
      () => ({ connectionString: place(secured, ''), ssl: { ca: issued.certificate } }),
      /does not match certificate/,
      /is for another host/,
    ],
  ]

  it.each(cases)('%s names the place, the reason and the remedy', async (_, source, reason, remedy) => {
    const adapter = postgres(source())
    const engine = createEngine({ adapter })
    onTestFinished(() => engine.close({ timeout: 0 }))
    for (const error of [await rejection(engine.start()), await rejection(migrate(source()))]) {
      expect(BelayError.is(error)).toBe(true)
      expect(error).toMatchObject({ code: 'store_misconfigured', remedy: expect.stringMatching(remedy) })
      expect(error.message).toMatch(/^Belay cannot use the database "postgres" at 127\.0\.0\.1:\d+: /)
      expect(error.message).toMatch(reason)
      expect(JSON.stringify([error.message, error.stack, String(error.cause)])).not.toContain('secret')
    }
  })

  it('is made with the certificate of the authority and the right host name', async () => {
    const url = new URL(await secured.createDatabase())
    const ssl = { ca: issued.certificate, servername: 'db.example' }

    expect((await migrate({ connectionString: url.href, ssl })).applied.length).toBeGreaterThan(0)
  })
})
