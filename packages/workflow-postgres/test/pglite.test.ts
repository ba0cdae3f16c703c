import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPglite, createPgliteDirectory } from '@belay/postgres-server'
import { createEngine, define } from '@belay/workflow'
import { BelayError } from '@belay/workflow/adapter'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pglite } from '../src/pglite.ts'
import { compile, spawnScript } from './setup/children.ts'
import { chain } from './setup/graphs.ts'

describe('PGlite', () => {
  let home: string
  // One database for all tests, because creating one takes seconds.
  let directory: string
  let db: PGlite
  beforeAll(async () => {
    compile()
    home = mkdtempSync(join(tmpdir(), 'belay-pglite-'))
    directory = join(home, 'data')
    db = await createPglite()
  })
  afterAll(async () => {
    await db.close()
    rmSync(home, { recursive: true })
  })

  it('lets a directory go that cannot be used because the disk is full, and opens it later', async () => {
    const place = join(home, 'full')
    await createPgliteDirectory(place)
    const own = await PGlite.create(place)
    await own.exec(`
      create function refuse() returns event_trigger language plpgsql as
        $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create event trigger refuse on ddl_command_start when tag in ('CREATE TABLE') execute function refuse()`)
    await own.close()
    const adapter = pglite(place)

    await expect(adapter.open()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/disk of the database is full/),
    })
    expect(existsSync(`${place}.lock`)).toBe(false)

    const freed = await PGlite.create(place)
    await freed.exec('drop event trigger refuse')
    await freed.close()
    await adapter.open()
    expect(existsSync(`${place}.lock`)).toBe(true)
    await adapter.close()
    expect(existsSync(`${place}.lock`)).toBe(false)
  })

  it('recovers at once the steps that a killed process held in a directory', async () => {
    const doomed = spawnScript('hold-step.mjs', directory)
    const { runId, workerId } = (await doomed.line()) as { runId: string; workerId: string }
    await doomed.kill('SIGKILL')

    const adapter = pglite(directory)
    await adapter.open()
    const swept = await adapter.sweep({ limit: 10 })

    expect(swept).toMatchObject({ lostWorkers: [workerId], recovered: [{ runId, step: 0, losses: 1 }] })
    expect((await adapter.readRun(runId))?.steps).toMatchObject([{ status: 'ready', losses: 1 }])
    await adapter.close()
  })

  it('keeps a directory for the next time, and its lock only while it is open', {
    timeout: 30_000,
  }, async () => {
    const first = pglite(directory)
    await first.open()
    await first.open()
    await chain.runThrough(first)
    await expect(pglite(directory).open()).rejects.toMatchObject({ code: 'directory_in_use' })
    expect(existsSync(`${directory}.lock`)).toBe(true)
    await first.close()
    expect(existsSync(`${directory}.lock`)).toBe(false)

    const second = pglite(directory)
    await second.open()

    expect(await second.listRuns({ limit: 10, status: ['completed'] })).toHaveLength(1)
    await second.close()
    await expect(second.now()).rejects.toMatchObject({ code: 'engine_closed' })
  })

  it('says what is wrong with a directory that holds something else, and releases it', async () => {
    const file = join(home, 'other')
    writeFileSync(file, 'not a directory')
    const error = await pglite(file)
      .open()
      .then(
        () => expect.fail('was expected to fail'),
        (failure: unknown) => failure,
      )
    expect(BelayError.is(error)).toBe(true)
    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(existsSync(`${file}.lock`)).toBe(false)
  })

  it('shares an instance with the application, and never closes it', async () => {
    const adapter = pglite(db)
    await adapter.open()
    await adapter.db.exec('create table mine (id int); insert into mine values (1)')
    await chain.runThrough(adapter)
    expect(adapter.db).toBe(db)
    await adapter.close()

    expect((await db.query('select id from mine')).rows).toEqual([{ id: 1 }])

    // A second adapter on it must not take the first one's workers for workers of a process that is gone.
    const [one, two] = [pglite(db), pglite(db)]
    await one.open()
    await one.registerWorker({
      workerId: '00000000-0000-7000-8000-000000000001',
      name: 'one',
      leaseMs: 60_000,
    })
    await two.open()
    expect(await two.sweep({ limit: 10 })).toMatchObject({ lostWorkers: [] })
  })

  it('leaves the workers of another instance on the same database alone', async () => {
    let charges = 0
    let answer = (_: string) => {}
    const answered = new Promise<string>((resolve) => {
      answer = resolve
    })
    const workflow = define('lite-charge', { version: 1 }).step('charge', {
      retry: false,
      run: () => {
        charges += 1
        return answered
      },
    })
    const engineOn = (instance: PGlite) =>
      createEngine({ adapter: pglite(instance, { schema: 'two_instances' }), workflows: [workflow] })
    // Like two tabs: each has its own object for the one database.
    const [first, second] = [engineOn(wrapped(db)), engineOn(wrapped(db))]
    await first.start()
    const run = await first.run(workflow)
    await expect.poll(() => charges, { timeout: 10_000 }).toBe(1)

    await second.start()
    const { lostWorkers } = await pglite(db, { schema: 'two_instances' }).sweep({ limit: 10 })
    answer('paid')

    expect(lostWorkers).toEqual([])
    expect(await run.result()).toEqual({ charge: 'paid' })
    expect(charges).toBe(1)
    expect((await run.status()).steps[0]).toMatchObject({ losses: 0 })
    await Promise.all([first.close(), second.close()])
  })

  it('declares earlier workers dead in an instance with the option shared: false', async () => {
    const schema = 'not_shared'
    const before = pglite(db, { schema })
    await before.open()
    const workerId = '00000000-0000-7000-8000-000000000002'
    await before.registerWorker({ workerId, name: 'before', leaseMs: 60_000 })

    const adapter = pglite(db, { schema, shared: false })
    await adapter.open()

    expect(await adapter.sweep({ limit: 10 })).toMatchObject({ lostWorkers: [workerId] })
  })

  it('is not loaded by importing the adapter, nor for an instance that runs elsewhere', async () => {
    const child = spawnScript('without-pglite.mjs')

    const [elsewhere, own] = (await child.line()) as string[]

    expect(elsewhere).toMatch(/There are no tables of Belay's/)
    expect(own).toMatch(/PGlite was loaded/)
  })

  it('migrates when it opens, unless told not to', async () => {
    expect(() => pglite().db).toThrow('open()')
    const adapter = pglite(db, { schema: 'by_hand', autoMigrate: false })

    await expect(adapter.open()).rejects.toMatchObject({
      code: 'schema_missing',
      message: expect.stringContaining('migrate()'),
    })
    await adapter.migrate()
    await adapter.open()

    expect(await adapter.listRuns({ limit: 1 })).toEqual([])
    await adapter.close()
  })

  it('refuses options that do not exist', () => {
    expect(() => pglite(undefined, { pool: 3 } as object)).toThrow('pglite() has no option "pool"')
  })
})

/** Another object for the same database. */
function wrapped(db: PGlite): PGlite {
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
