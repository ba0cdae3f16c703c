import { createEngine } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres } from '../src/index.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import type { Line, WorkerProcess } from './processes/child.ts'
import { compile } from './setup/children.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { LockWaits } from './setup/lock-waits.ts'
import { oldestCodeOf } from './setup/migration-rules.ts'
import { NEXT_RELEASE } from './setup/next-release.ts'
import { laterRelease, previousRelease, type Release } from './setup/releases.ts'

// No unique key: an effect that happens twice is there twice.
const LEDGER =
  'create table ledger (id serial primary key, run_id uuid, key text not null, worker text not null)'
const LOCK_TIMEOUT_MS = 200

const DONE = ['reserve', 'charge']
const UNDONE = ['reserve', 'charge', 'charge:undo', 'reserve:undo']

const count = (lines: readonly Line[], event: string) => lines.filter((line) => line.event === event).length

let previous: Release
let later: Release
beforeAll(async () => {
  compile()
  ;[previous, later] = await Promise.all([previousRelease(), laterRelease(NEXT_RELEASE)])
}, 120_000)
afterAll(() => Promise.all([previous.remove(), later.remove()]))

describe('the packed earlier release', () => {
  it('knows the beginning of our migrations (else pack it anew: scripts/pack-release.mjs)', () => {
    const { length } = previous.migrations
    const hashes = (migrations: typeof MIGRATIONS) => migrations.map(({ tag, hash }) => `${tag} ${hash}`)

    expect(hashes(previous.migrations)).toEqual(hashes(MIGRATIONS.slice(0, length)))
  })

  it('may run on our schema (else the next release stops it: say so, and pack its successor)', () => {
    expect(oldestCodeOf(MIGRATIONS.at(-1)!)).toBeLessThan(previous.migrations.length)
  })
})

describe.each(servers)('a rolling upgrade of an earlier release on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await database.pool.query(LEDGER)
  })
  afterAll(() => database.drop())

  const start = (release: Release, env: Readonly<Record<string, string>>): WorkerProcess => {
    const started = release.process({ DATABASE_URL: database.url, ...env })
    onTestFinished(() => started.kill())
    return started
  }

  /** Waits until a process has seen that many more of its runs end. */
  const ends = (process: WorkerProcess, more: number): Promise<void> => {
    const before = count(process.lines, 'ended')
    return process.says(`${more} runs ended`, (lines) => count(lines, 'ended') >= before + more)
  }

  it('and back again loses nothing and repeats nothing', async ({ annotate }) => {
    const processes = new Map<string, WorkerProcess>()
    const worker = (release: Release, NAME: string, RUNS = '1000000'): WorkerProcess => {
      const started = start(release, { NAME, RUNS })
      processes.set(NAME, started)
      return started
    }

    // The earlier release makes the schema, and works.
    const made = start(previous, { MIGRATE: 'yes' })
    await made.saysEvent('migrated')
    const [old1, old2] = [worker(previous, 'old-1'), worker(previous, 'old-2')]
    await Promise.all([ends(old1, 10), ends(old2, 10)])

    // The later one migrates, behind somebody's long transaction, while the earlier one works on.
    const waits = new LockWaits(database.pool)
    const reader = await database.pool.connect()
    await reader.query('begin; select count(*) from belay.workflow_runs')
    const settings = JSON.stringify({ lockTimeoutMs: LOCK_TIMEOUT_MS, lockTriesMax: 1_000 })
    const migrating = start(later, { MIGRATE: 'yes', SETTINGS: settings })
    await waits.seen('workflow_runs')
    await Promise.all([ends(old1, 10), ends(old2, 10)])
    expect(count(migrating.lines, 'migrated')).toBe(0)
    await reader.query('commit')
    reader.release()
    await migrating.saysEvent('migrated')
    const longest = await waits.stop()

    // Its workers start beside those of the earlier one, which leave: one in order, one killed.
    const new1 = worker(later, 'new-1')
    await ends(new1, 10)
    await Promise.all([ends(old1, 5), ends(old2, 5)])
    expect(await old1.leave()).toBe(0)
    await old2.kill()
    const new2 = worker(later, 'new-2')
    await Promise.all([ends(new1, 10), ends(new2, 10)])

    // The deployment is rolled back: the earlier release goes on, on the newer schema.
    const old3 = worker(previous, 'old-3', '30')
    await old3.saysEvent('ready')
    expect(await Promise.all([new1.leave(), new2.leave()])).toEqual([0, 0])
    await old3.saysEvent('quiet')
    await everythingEnds()
    expect(await old3.leave()).toBe(0)

    const pending = [...MIGRATIONS.slice(previous.migrations.length), ...NEXT_RELEASE]
    expect(migrating.lines).toMatchObject([{ applied: pending.map(({ tag }) => tag) }])
    expect(await wrongRuns()).toEqual([])
    expect(noticesOf(processes)).toEqual({ 'old-3': [{ event: 'store.notice', code: 'schema_newer' }] })
    expect(longest.waited).toContain('workflow_runs')
    await annotate(
      `The longest wait for a lock took ${longest.ms} ms, at a lock timeout of ${LOCK_TIMEOUT_MS} ms.`,
    )
  }, 180_000)

  /** Every run is over. What a killed process had started but not signalled is signalled here, under the same key. */
  async function everythingEnds(): Promise<void> {
    const engine = createEngine({ adapter: postgres(database.url) })
    onTestFinished(() => engine.close())
    const live = async () => {
      const { rows } = await database.pool.query<{ id: string; n: number }>(
        `select id, (input->>'n')::int as n from belay.workflow_runs where finished_at is null`,
      )
      return rows
    }
    for (const { id, n } of await live()) await engine.signal(id, 'paid', n, { key: 'paid' })
    await expect.poll(live, { timeout: 60_000 }).toEqual([])
    expect(await engine.doctor({ failureRate: 1 })).toMatchObject({ healthy: true })
  }

  /** Runs whose end or whose entries in the ledger are not what their input leads to. */
  async function wrongRuns(): Promise<readonly unknown[]> {
    const { rows } = await database.pool.query<{ id: string; n: number; status: string; keys: string[] }>(
      `select r.id, (r.input->>'n')::int as n, r.status,
         array(select substr(l.key, 38) from ledger l where l.run_id = r.id order by l.id) as keys
       from belay.workflow_runs r`,
    )
    expect(rows.length).toBeGreaterThan(100)
    return rows.filter(({ n, status, keys }) => {
      const fails = n % 5 === 0
      const expected = fails ? UNDONE : DONE
      return status !== (fails ? 'compensated' : 'completed') || keys.join() !== expected.join()
    })
  }
})

/** What processes were told, apart from what they did: notices, outages, lost leases. */
function noticesOf(
  processes: ReadonlyMap<string, WorkerProcess>,
): Readonly<Record<string, readonly unknown[]>> {
  const ordinary = new Set(['ready', 'started', 'ended', 'quiet'])
  const told: Record<string, readonly unknown[]> = {}
  for (const [name, { lines }] of processes) {
    const notices = lines.filter(({ event }) => !ordinary.has(event ?? ''))
    if (notices.length > 0) told[name] = notices
  }
  return told
}
