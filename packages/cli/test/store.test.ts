import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, define } from '@belay/workflow'
import { pglite } from '@belay/workflow-postgres/pglite'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { pgbouncerBinary, startPgbouncer } from '../../workflow-postgres/test/setup/pgbouncer.ts'
import { placeOf, withoutPassword } from '../src/store/place.ts'
import { belay } from './setup/belay.ts'
import { terminal } from './setup/pty.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 }).step('charge', { run: () => 1 })

/** Nobody listens there. */
const NOWHERE = 'postgres://ann:s3cret@127.0.0.1:1/shop'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'belay-cli-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('the store', () => {
  it('is named by --url, BELAY_URL, DATABASE_URL or a config, in this order', async () => {
    const { url, schema } = await testStore()
    const cwd = folder()
    const config = (value: string) => writeFileSync(join(cwd, 'belay.config.ts'), `export default ${value}`)
    const source = async (argv: readonly string[], env: Record<string, string>) =>
      (await belay(['list', '--schema', schema, ...argv], { env, cwd })).stderr.match(/From (.*)\.$/m)?.[1]
    config(`{ url: '${NOWHERE}' }`)

    expect(await source([], {})).toBe(join(cwd, 'belay.config.ts'))
    expect(await source([], { DATABASE_URL: NOWHERE })).toBe('DATABASE_URL')
    expect(await source([], { BELAY_URL: NOWHERE, DATABASE_URL: url })).toBe('BELAY_URL')
    expect(await source(['--url', NOWHERE], { BELAY_URL: url })).toBe('--url')
    config(`{ url: '${url}', schema: '${schema}' }`)
    expect(await belay(['list'], { cwd })).toMatchObject({ status: 0, stderr: 'There are no runs yet.\n' })
  })

  it('is not guessed: without any of these nothing is done', async () => {
    expect(await belay(['list'], { cwd: folder() })).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'No store is named. Give --url, set BELAY_URL or DATABASE_URL, or make a belay.config.ts.\n  belay init\n',
    })
    expect(await belay(['list', '--url', 'mysql://localhost/shop'])).toMatchObject({
      status: 2,
      stderr: 'A store is named by postgres://user@host/database, or by pglite:./directory.\n',
    })
  })

  it('whose server has no TLS is named with what to do about it', async () => {
    const url = new URL(inject('serverUrl'))
    url.password = 's3cret'
    url.search = 'sslmode=verify-full'

    const { stderr } = await belay(['list'], { env: { DATABASE_URL: url.href } })

    expect(stderr).toMatch(/database "\w+" at [\w.]+:\d+: The server does not support SSL/)
    expect(stderr).toMatch(/sslmode=disable/)
    expect(stderr).not.toContain('s3cret')
  })

  it('whose URL names a certificate that is not there says so', async () => {
    for (const name of ['sslcert', 'sslkey', 'sslrootcert']) {
      const url = `${NOWHERE}?${name}=/nowhere/client.pem`
      const { status, stderr } = await belay(['list', '--url', url], { cwd: folder() })

      expect(status).toBe(3)
      expect(stderr).toContain('names the file /nowhere/client.pem, which cannot be read (ENOENT).')
      expect(stderr).not.toMatch(/not a URL|s3cret/)
    }
  })

  it.each([
    ['postgres://ann@db/shop?password=s3cret&x=1', 'postgres://ann@db/shop?password=…&x=1'],
    ['postgres://ann@db/shop?sslpassword=s3cret', 'postgres://ann@db/shop?sslpassword=…'],
    ['postgres://ann:p/s3cret@db/shop', 'postgres://ann:…@db/shop'],
    ['postgres://ann:12/s3cret@db/shop', 'postgres://ann:…@db/shop'],
    ['postgres://ann:p@s3cret?#@db/shop', 'postgres://ann:…@db/shop'],
    ['postgres://ann@db/shop', 'postgres://ann@db/shop'],
    ['pglite:./data', 'pglite:./data'],
  ])('%s is shown without its password', (url, shown) => {
    expect(withoutPassword(url)).toBe(shown)
    expect(placeOf(url)).not.toContain('s3cret')
  })

  it('that cannot be reached is named with its source and without its password', async () => {
    const { status, stdout, stderr } = await belay(['list'], { env: { DATABASE_URL: NOWHERE } })

    expect(status).toBe(3)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/database "shop" at 127\.0\.0\.1:1.*ECONNREFUSED.*From DATABASE_URL\.$/m)
    expect(stderr).not.toContain('s3cret')
  })

  it('without Belay’s tables, or with those of an older release, leads to belay migrate', async () => {
    const schema = `empty_${randomBytes(4).toString('hex')}`
    const { status, stderr } = await belay(['list', '--schema', schema], {
      env: { DATABASE_URL: inject('serverUrl') },
    })

    expect(status).toBe(3)
    expect(stderr).toContain(schema)
    expect(stderr).toMatch(/\n {2}belay migrate --dry-run\n$/)
  })

  it('whose rows somebody has locked is not waited for without end', async () => {
    const store = await testStore()
    const blocker = await store.adapter.pool.connect()
    onTestFinished(() => blocker.release(true))
    await blocker.query('begin')
    await blocker.query(`lock table "${store.schema}".workflow_runs in access exclusive mode`)

    const { status, stderr } = await belay(['list', '--timeout', '1s'], { env: store.env })

    expect(status).toBe(3)
    expect(stderr).toMatch(
      /^Another transaction has held a row or a table .* Nothing was written\. Find the transaction/,
    )
  })

  it('is not changed by reading it', async () => {
    const store = await testStore()
    await store.engine().run(order, undefined, { key: 'order:1' })
    const before = await everything(store)

    for (const argv of [['list'], ['list', '--status', 'failed'], ['list', '--json']]) {
      expect((await belay(argv, { env: store.env })).status).toBe(0)
    }

    expect(await everything(store)).toBe(before)
  })

  it.skipIf(pgbouncerBinary === undefined)(
    'may be behind PgBouncer in transaction mode (skipped without it: apt-get install pgbouncer, or set BELAY_PGBOUNCER)',
    async () => {
      const store = await testStore()
      const run = await store.engine().run(order, undefined, { key: 'order:1' })
      const bouncer = await startPgbouncer(store.url, 'transaction')
      onTestFinished(() => bouncer.stop())

      const { stdout } = await belay(['list', '--url', bouncer.url], { env: store.env })

      expect(stdout).toContain(run.id)
    },
  )

  it('may be a directory of PGlite, which is left as it was', async () => {
    const cwd = folder()
    const adapter = pglite(join(cwd, 'data'))
    const engine = createEngine({ adapter, logger: false })
    const run = await engine.run(order, undefined, { key: 'order:1' })
    await engine.close()

    for (const argv of [[], ['list', '--since', '1h'], ['explain', run.id], ['doctor'], ['approvals']]) {
      const said = await belay([...argv, '--url', 'pglite:./data'], { cwd })
      expect([argv, said.status === 3, said.stderr.includes('open()')]).toEqual([argv, false, false])
    }
    const { stdout, stderr, status } = await belay(['list', '--url', 'pglite:./data'], { cwd })

    expect(stderr).toBe('')
    expect(stdout).toContain(run.id)
    expect(status).toBe(0)
  })

  it('that another process holds is refused at once, with the process and its lock file', async () => {
    const cwd = folder()
    const adapter = pglite(join(cwd, 'data'))
    const engine = createEngine({ adapter, logger: false })
    onTestFinished(() => engine.close())
    await engine.run(order, undefined)

    const shell = terminal(['list', '--url', 'pglite:./data'], { cwd, env: {}, columns: 200 })

    expect(await shell.exit).toBe(3)
    expect(shell.screen()).toContain(`in use by process ${process.pid}`)
    expect(shell.screen()).toContain('data.lock')
  })
})

describe('a config', () => {
  it('that cannot be loaded, or says something else, is named with what is wrong', async () => {
    const cwd = folder()
    const says = async (text: string) => {
      writeFileSync(join(cwd, 'belay.config.ts'), text)
      const { status, stderr } = await belay(['list'], { cwd })
      return { status, stderr: stderr.replace(cwd, '.') }
    }

    expect(await says('export default 7')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('must export an object'),
    })
    expect(await says('export default { url: 7 }')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('`url` must be a text'),
    })
    expect(await says('export default { workflows: [1] }')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('`workflows` must be a list of definitions'),
    })
    expect(await says('throw new Error("no such flag")')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/cannot be loaded: .*no such flag/),
    })
    expect(await belay(['list', '--config', 'none.ts'], { cwd })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is no file'),
    })
  })
})

/** A print of all rows of a schema. */
async function everything({ adapter, schema }: Awaited<ReturnType<typeof testStore>>): Promise<string> {
  const { rows: tables } = await adapter.pool.query(
    'select table_name from information_schema.tables where table_schema = $1 and table_type = $2 order by 1',
    [schema, 'BASE TABLE'],
  )
  const print = createHash('sha256')
  for (const { table_name } of tables) {
    const { rows } = await adapter.pool.query(
      `select t::text as row from "${schema}"."${table_name}" t order by 1`,
    )
    print.update(`${table_name}:${rows.map(({ row }) => row).join('\n')}`)
  }
  return print.digest('hex')
}
