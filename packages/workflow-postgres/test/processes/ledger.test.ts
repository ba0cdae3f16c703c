import { createEngine } from '@belay/workflow'
import { describe, expect, it, type TestContext } from 'vitest'
import { migrate, postgres } from '../../src/index.ts'
import { createDatabase, servers } from '../setup/database.ts'
import { WorkerProcess } from './child.ts'

// No unique key: a row written twice appears twice.
const LEDGER = 'create table ledger (id serial primary key, key text not null, worker text not null)'

async function given({ onTestFinished }: TestContext) {
  const database = await createDatabase(servers[0]!.url)
  const { url, pool } = database
  await migrate(pool)
  await pool.query(LEDGER)
  const engine = createEngine({ adapter: postgres(url) })
  onTestFinished(async () => {
    await engine.close()
    await database.drop()
  })
  const worker = (env: Readonly<Record<string, string>> = {}) => {
    const started = new WorkerProcess({ DATABASE_URL: url, ...env }, 'ledger-worker.mjs')
    onTestFinished(() => started.kill())
    return started
  }
  const entries = async (runId: string) =>
    (await pool.query<{ key: string }>('select key from ledger order by id')).rows.map(({ key }) =>
      key.slice(runId.length + 1),
    )
  return { engine, worker, entries }
}

/** The ledger of a run that fails at its end: each entry once, undone in reverse. */
const LEFT = ['debit', 'credit', 'credit:undo', 'debit:undo']

type Kill = readonly [point: 'begin' | 'handler' | 'commit' | 'committed', nth: number]

// A run makes four transactions: two forward, two to undo them. `npm test` kills in each direction and at each point; `npm run kills` more often.
const FEW: readonly Kill[] = [
  ['begin', 4],
  ['handler', 1],
  ['commit', 2],
  ['committed', 3],
]
const MORE: readonly Kill[] = [
  ['begin', 1],
  ['handler', 3],
  ['commit', 1],
  ['commit', 4],
  ['committed', 1],
  ['committed', 4],
]
const KILLED_AT = process.env['KILL_POINTS'] === undefined ? FEW : [...FEW, ...MORE]

describe('the ledger of transactional steps', () => {
  it.concurrent.for(KILLED_AT)(
    'has each row once when a worker is killed at %s %i',
    async ([point, nth], context) => {
      const { engine, worker, entries } = await given(context)
      const killed = worker({ NAME: 'killed', STALL_AT: point, STALL_NTH: `${nth}`, START_KEY: 'one' })
      await killed.saysEvent('run')
      const runId = killed.lines.find(({ event }) => event === 'run')!.id!
      await killed.saysEvent('stalled')

      await killed.kill()
      worker({ NAME: 'living' })
      await engine.runs
        .handle(runId)
        .result()
        .catch(() => {})

      expect((await engine.runs.get(runId))?.status).toBe('compensated')
      expect(await entries(runId)).toEqual(LEFT)
    },
  )

  it.concurrent.for([['begin'], ['handler'], ['commit'], ['committed']] as const)(
    'has each row once when a worker is stopped past its lease at %s, and continues',
    async ([point], context) => {
      const { engine, worker, entries } = await given(context)
      const stalled = worker({ NAME: 'stalled', STALL_AT: point, STALL_MS: '200', START_KEY: 'one' })
      await stalled.saysEvent('run')
      const runId = stalled.lines.find(({ event }) => event === 'run')!.id!
      await stalled.saysEvent('stalled')

      stalled.signal('SIGSTOP')
      worker({ NAME: 'living' })
      await engine.runs
        .handle(runId)
        .result()
        .catch(() => {})
      const before = await entries(runId)
      stalled.signal('SIGCONT')
      await stalled.saysEvent('lease.lost')

      expect((await engine.runs.get(runId))?.status).toBe('compensated')
      expect(before).toEqual(LEFT)
      expect(await entries(runId)).toEqual(LEFT)
    },
  )
})
