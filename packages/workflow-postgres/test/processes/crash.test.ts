import { createEngine } from '@belay/workflow'
import { describe, expect, it, type TestContext } from 'vitest'
import { migrate, postgres } from '../../src/index.ts'
import { createDatabase, servers } from '../setup/database.ts'
import { type Line, WorkerProcess } from './child.ts'

const CREATED = `create table calls (id serial primary key, run_id uuid, step text, key text, worker text);
create table effects (id serial primary key, run_id uuid, step text, key text unique, worker text)`

/**
 * A failing run makes five calls forward and four to undo. Each prints a call and an event. `npm test` kills at the beginning, in the middle, right
 * after the failure and in the undo; `npm run kills` at more lines.
 */
const KILLED_AFTER =
  process.env['KILL_POINTS'] === undefined ? [1, 7, 12, 15] : [1, 3, 5, 7, 9, 11, 12, 13, 14, 15, 16, 17]

/** A migrated database with the tables in which the workers record their calls. */
async function given({ onTestFinished }: TestContext) {
  const database = await createDatabase(servers[0]!.url)
  const { url, pool } = database
  await migrate(pool)
  await pool.query(CREATED)
  const engine = createEngine({ adapter: postgres(url) })
  onTestFinished(async () => {
    await engine.close()
    await database.drop()
  })
  const worker = (env: Readonly<Record<string, string>> = {}) => {
    const started = new WorkerProcess({ DATABASE_URL: url, ...env })
    onTestFinished(() => started.kill())
    return started
  }
  const effects = async () =>
    (await pool.query<{ key: string; worker: string }>('select key, worker from effects order by id')).rows
  const calls = async () =>
    (
      await pool.query<{ step: string; key: string; worker: string }>(
        'select step, key, worker from calls order by id',
      )
    ).rows
  return { engine, worker, effects, calls, pool }
}

function runIdOf(lines: readonly Line[]): string {
  return lines.find(({ event }) => event === 'run')!.id!
}

describe('worker processes', () => {
  it('steps of a worker killed in the middle of one are taken over, and the run ends correctly', async (context) => {
    const { engine, worker, calls } = await given(context)
    const killed = worker({ NAME: 'killed', SLOW_STEP: 'charge', SLOW_MS: '60000', START_KEY: 'one' })
    await killed.says('charge is called', (lines) => lines.some(({ call }) => call === 'charge'))
    const runId = runIdOf(killed.lines)
    worker({ NAME: 'living' })

    await killed.kill()
    await engine.runs
      .handle(runId)
      .result()
      .catch(() => {})

    const run = (await engine.runs.get(runId))!
    expect(run.status).toBe('compensated')
    const forward = (await calls()).filter(({ key }) => key === `${runId}:charge`)
    expect(forward.map(({ worker }) => worker)).toEqual(['killed', 'living'])
    expect(run.steps.find(({ name }) => name === 'charge')).toMatchObject({ status: 'compensated' })
  })

  it('a worker stopped past its lease and then continued changes nothing', async (context) => {
    const { engine, worker, pool } = await given(context)
    const stalled = worker({ NAME: 'stalled', SLOW_STEP: 'charge', SLOW_MS: '1500', START_KEY: 'one' })
    await stalled.says('charge is called', (lines) => lines.some(({ call }) => call === 'charge'))
    const runId = runIdOf(stalled.lines)

    stalled.signal('SIGSTOP')
    worker({ NAME: 'living' })
    await engine.runs
      .handle(runId)
      .result()
      .catch(() => {})
    const rows = async () => (await pool.query('select * from belay.workflow_steps order by step')).rows
    const before = await rows()
    stalled.signal('SIGCONT')
    await stalled.saysEvent('step.discarded', 'charge')
    await stalled.saysEvent('lease.lost')

    expect(await rows()).toEqual(before)
    expect((await engine.runs.get(runId))!.status).toBe('compensated')
  })

  it.concurrent.for(KILLED_AFTER)(
    'killed after line %i of a saga and started again, everything completed is undone exactly once, in order',
    async (killAfter, context) => {
      const { engine, worker, effects, calls } = await given(context)
      const first = worker({ NAME: 'first', START_KEY: 'one' })
      await first.saysEvent('run')
      const after = (lines: readonly Line[]) =>
        lines.filter((l) => l.event !== 'ready' && l.event !== 'run').length
      await first.says(`line ${killAfter}`, (lines) => after(lines) >= killAfter)
      const runId = runIdOf(first.lines)
      await first.kill()

      const second = worker({ NAME: 'second' })
      await second.saysEvent('ready')
      await engine.runs
        .handle(runId)
        .result()
        .catch(() => {})

      const run = (await engine.runs.get(runId))!
      expect(run.status).toBe('compensated')
      expect(Object.fromEntries(run.steps.map((step) => [step.name, step.status]))).toEqual({
        reserve: 'compensated',
        check: 'compensated',
        charge: 'compensated',
        invoice: 'compensated',
        mail: 'failed',
      })
      const undone = (await effects())
        .map(({ key }) => key.slice(runId.length + 1))
        .filter((key) => key.endsWith(':undo'))
      expect(undone.slice(0, 2)).toEqual(['invoice:undo', 'charge:undo'])
      expect(undone.slice(2).sort()).toEqual(['check:undo', 'reserve:undo'])
      // One crash can repeat a call that was in flight, never one that was recorded.
      const perKey = new Map<string, number>()
      for (const { key } of await calls()) perKey.set(key, (perKey.get(key) ?? 0) + 1)
      expect(Math.max(...perKey.values())).toBeLessThanOrEqual(2)
    },
  )

  it('a worker told to leave releases its steps, and exits', async (context) => {
    const { engine, worker } = await given(context)
    const leaving = worker({ NAME: 'leaving', SLOW_STEP: 'charge', SLOW_MS: '60000', START_KEY: 'one' })
    await leaving.says('charge is called', (lines) => lines.some(({ call }) => call === 'charge'))
    const runId = runIdOf(leaving.lines)

    const code = await leaving.leave()

    const charge = (await engine.runs.get(runId))!.steps.find(({ name }) => name === 'charge')
    expect(code).toBe(0)
    expect(charge).toMatchObject({ status: 'ready', failures: 0, losses: 0 })
  })
})
