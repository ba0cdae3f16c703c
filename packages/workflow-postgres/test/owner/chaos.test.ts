import { expect, it, onTestFinished } from 'vitest'
import { realTime } from '../../../testing/src/clock/turn.ts'
import { Random } from '../../../testing/src/conformance/differential/random.ts'
import { OPERATOR } from '../../../workflow/src/engine/asker/operator.ts'
import { systemRuntime } from '../../../workflow/src/engine/base/runtime.ts'
import { silentLogger } from '../../../workflow/src/logger.ts'
import { specOfShape } from '../../../workflow/src/machine/spec-of-shape.ts'
import { codeOf, deliver, Owner } from '../../../workflow/src/owner/index.ts'
import { postgresStore } from '../../src/postgres/postgres.ts'
import { WorkerProcess } from '../processes/child.ts'
import { createDatabase, servers } from '../setup/database.ts'

/** `CHAOS_SECONDS=600` goes on for ten minutes. */
const SECONDS = Number(process.env['CHAOS_SECONDS'] ?? 12)
const WORKERS = 3
const LEASE_MS = 1_000

const LEDGER = `create table ledger (id bigserial primary key, run_id uuid not null, step text not null, phase text not null,
  attempt int not null, what text not null, at float8 not null, worker text not null)`

/** What must hold, as statements that find what breaks it. A handler that its worker was frozen in writes late what it had begun before. */
const BROKEN = {
  'a step was called more often than it was tried': `
    select s.run_id, s.name, l.phase from belay.workflow_steps s
    join (select run_id, step, phase, count(*) as calls from ledger where what = 'begin' group by 1, 2, 3) l on l.run_id = s.run_id and l.step = s.name
    where l.calls > case l.phase when 'run' then s.attempt else coalesce(s.undo_attempt, 0) end`,
  'a step has completed, and its handler has never ended': `
    select s.run_id, s.name from belay.workflow_steps s where s.status in ('completed', 'undone')
    and not exists (select from ledger l where l.run_id = s.run_id and l.step = s.name and l.phase = 'run' and l.what = 'end')`,
  'a step is undone, and its compensation has never ended': `
    select s.run_id, s.name from belay.workflow_steps s where s.status = 'undone'
    and not exists (select from ledger l where l.run_id = s.run_id and l.step = s.name and l.phase = 'undo' and l.what = 'end')`,
  'a step that has an effect was left by a run that was undone': `
    select s.run_id, s.name, s.status from belay.workflow_steps s join belay.workflow_runs r on r.id = s.run_id
    where r.status in ('compensated', 'cancelled') and s.name <> 'e' and s.status not in ('undone', 'cancelled', 'pending', 'failed')`,
  'the undo of a step began before that of what depended on it had ended': `
    select l.run_id, e.before, e.later from (values ('a', 'b'), ('a', 'c'), ('b', 'd'), ('c', 'd')) e (before, later)
    join (select run_id, step, min(at) as begun from ledger where phase = 'undo' and what = 'begin' group by 1, 2) l on l.step = e.before
    join belay.workflow_steps s on s.run_id = l.run_id and s.name = e.later and s.status = 'undone'
    left join (select run_id, step, min(at) as ended from ledger where phase = 'undo' and what = 'end' group by 1, 2) o on o.run_id = l.run_id and o.step = e.later
    where o.ended is null or o.ended > l.begun`,
  'a handler began after the undo': `
    select f.run_id, f.step from ledger f where f.phase = 'run' and f.what = 'begin'
    and f.at > (select min(u.at) from ledger u where u.run_id = f.run_id and u.phase = 'undo' and u.what = 'begin')`,
  'a run has ended otherwise': `
    select id, status from belay.workflow_runs where status not in ('completed', 'compensated', 'cancelled', 'failed')`,
  'somebody still has a run': 'select run_id from belay.workflow_live',
} as const

class Chaos {
  readonly random = new Random(Number(process.env['SAMPLE'] ?? 1))
  readonly counts = { killed: 0, frozen: 0, cut: 0, left: 0, cancelled: 0, runs: 0 }
  readonly #workers: WorkerProcess[] = []
  readonly #url: string
  #named = 0

  constructor(url: string) {
    this.#url = url
  }

  async worker(): Promise<void> {
    this.#named += 1
    const env = { DATABASE_URL: this.#url, NAME: `w${this.#named}`, LEASE_MS: String(LEASE_MS) }
    const made = new WorkerProcess(env, '../owner/chaos-worker.mjs')
    this.#workers.push(made)
    await made.saysEvent('ready')
  }

  #take(): WorkerProcess {
    return this.#workers.splice(this.random.below(this.#workers.length), 1)[0]!
  }

  async kill(): Promise<void> {
    this.counts.killed += 1
    await this.#take().kill()
    await this.worker()
  }

  async leave(): Promise<void> {
    this.counts.left += 1
    await this.#take().leave()
    await this.worker()
  }

  async freeze(): Promise<void> {
    this.counts.frozen += 1
    const worker = this.#workers[this.random.below(this.#workers.length)]!
    worker.signal('SIGSTOP')
    await realTime(LEASE_MS * (0.5 + 2 * this.random.below(100) * 0.01))
    worker.signal('SIGCONT')
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()))
  }
}

it(
  'workers that are killed, frozen, cut off and told to leave lose nothing, double nothing and undo in order',
  async () => {
    const database = await createDatabase(servers[0]!.url)
    const { url, pool } = database
    const store = postgresStore(url, {})
    const chaos = new Chaos(url)
    onTestFinished(async () => {
      await chaos.close()
      await store.close()
      await database.drop()
    })
    await store.migrate()
    await pool.query(LEDGER)
    await Promise.all(Array.from({ length: WORKERS }, () => chaos.worker()))
    const { rows } = await pool.query('select id, name, shape from belay.workflow_definitions')
    const code = codeOf(rows[0].id, rows[0].name, specOfShape(rows[0].shape))
    const { clock, newId } = systemRuntime
    const operator = new Owner({
      ...{
        store,
        clock,
        newId,
        log: silentLogger,
        asker: OPERATOR,
        name: 'operator',
        slots: 0,
        codes: new Map(),
      },
      ...{ leaseMs: 10_000, tickMs: 200, codeOf: async () => code },
    })
    await operator.start()
    const historyOf = async (run: string) => {
      const told = await pool.query(
        `select concat_ws(' ', round((at - min(at) over ())::numeric, 1), worker, what, phase, step, attempt) as line from ledger where run_id = $1 order by at`,
        [run],
      )
      const steps = await pool.query(
        `select concat_ws(' ', name, status, attempt, losses, undo_attempt, state) as line from belay.workflow_steps where run_id = $1 order by unit`,
        [run],
      )
      return [...told.rows, ...steps.rows].map(({ line }) => line).join('\n')
    }
    onTestFinished(() => operator.stop(0))
    const ids: string[] = []
    const start = async () => {
      const runs = Array.from({ length: 15 }, () => ({
        ...{ id: newId(), key: null, input: JSON.stringify({ fails: chaos.random.below(2) === 0 }) },
      }))
      const { definition, workflow, steps } = code
      await store.start({ definition, workflow, steps, runs })
      store.hint({ definitions: [definition] })
      ids.push(...runs.map(({ id }) => id))
      chaos.counts.runs += runs.length
    }
    const cancel = async () => {
      const run = ids[ids.length - 1 - chaos.random.below(Math.min(ids.length, 20))]!
      chaos.counts.cancelled += 1
      const mail = { run, key: newId(), event: JSON.stringify({ type: 'cancel', compensate: true }) }
      await deliver(operator, [mail], { operates: true })
    }
    const cut = async () => {
      chaos.counts.cut += 1
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'belay%'
          and client_port not in (select client_port from pg_stat_activity where pid = pg_backend_pid()) order by random() limit 2`,
      )
    }
    const acts = [
      start,
      start,
      start,
      cancel,
      cut,
      () => chaos.kill(),
      () => chaos.freeze(),
      () => chaos.leave(),
    ]
    const end = clock.now() + SECONDS * 1_000
    while (clock.now() < end) {
      await acts[chaos.random.below(acts.length)]!()
      await realTime(chaos.random.below(150))
    }
    await expect
      .poll(
        async () => (await pool.query('select count(*)::int as left from belay.workflow_live')).rows[0].left,
        {
          timeout: 60_000,
          interval: 200,
        },
      )
      .toBe(0)
    // What was frozen may still write what it had begun.
    await realTime(500)

    console.log(JSON.stringify(chaos.counts))
    for (const [what, statement] of Object.entries(BROKEN)) {
      const [broken] = (await pool.query(statement)).rows
      const told = broken === undefined ? '' : await historyOf(broken.run_id ?? broken.id)
      expect(broken, `${what}\n${told}`).toBe(undefined)
    }
    expect(chaos.counts.runs).toBeGreaterThan(0)
  },
  (SECONDS + 120) * 1_000,
)
