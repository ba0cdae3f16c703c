import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import { migrate } from '@belay/workflow-postgres'
import pg from 'pg'
import { TcpProxy } from '../network/proxy.ts'
import { pause, until } from '../pause.ts'
import { Crew } from './crew.ts'
import type { FailoverOptions } from './options.ts'
import { LOST, type StoredRun, violationsOf } from './verdict.ts'

const WORKERS = 2
const BASE = ['base-0', 'base-1', 'base-2', 'base-3']
/** How long the load runs before a standby stops receiving, and how long it goes on after that. */
const LOAD_MS = 1_500
const LOST_MS = 1_500
/** How long after a promotion everything may take to go on: a lease, a tick, and processes that share two cores. */
const BOUND_MS = 30_000

const SETTINGS = { settings: { synchronous_commit: 'on', full_page_writes: 'on' } }

/** Promotes standbys without their last commits, one after the other, under the same processes. */
export async function failover(
  { promotions }: FailoverOptions,
  tell: (line: string) => void,
): Promise<{ readonly text: string; readonly isGood: boolean }> {
  let server = await startPostgres(SETTINGS)
  const database = new URL(await server.createDatabase()).pathname.slice(1)
  const proxy = await TcpProxy.open(server.port)
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/${database}`
  const crew = new Crew()
  const late: string[] = []
  const servers = [server]
  try {
    await migrate(url)
    for (let n = 0; n < WORKERS; n += 1) await crew.addWorker(`worker ${n}`, { url, workflows: BASE })
    await crew.addTrigger({ url, workflows: BASE })
    for (let n = 1; n <= promotions; n += 1) {
      const promoted = await promotion({ n, server, proxy, crew, url, servers })
      server = promoted.server
      late.push(...promoted.late)
      tell(`promotion ${n}: ${[promoted.text, ...promoted.late].join('; ')}`)
    }
    const runs = await atRest(server, database, crew)
    const { effects, started, ended, deaths } = crew
    const violations = violationsOf({ runs, effects, started, ended, late: [...late, ...deaths] })
    return { isGood: violations.length === 0, text: summary(promotions, crew, runs, violations) }
  } finally {
    crew.close()
    await proxy.close()
    for (const each of servers) await each.stop()
  }
}

interface Promotion {
  readonly n: number
  readonly server: PostgresServer
  readonly proxy: TcpProxy
  readonly crew: Crew
  readonly url: string
  /** All servers, to be stopped at the end. */
  readonly servers: PostgresServer[]
}

async function promotion({ n, server, proxy, crew, url, servers }: Promotion) {
  const standby = await server.startStandby()
  servers.push(standby)
  await pause(LOAD_MS)
  await standby.detach()
  const fresh = `fresh-${n}`
  const earlier = crew.workers.map((worker) => ({ worker, wentBack: worker.wentBack }))
  // Its definition, its limit, its schedule, the row of its worker and all its runs are lost.
  await crew.addWorker(`worker of ${fresh}`, { url, workflows: [fresh] })
  crew.tell({ type: 'also', workflow: fresh })
  await pause(LOST_MS)
  const confirmed = new Set(crew.started.keys())
  await server.kill()
  await proxy.refuse()
  await standby.promote()
  proxy.redirect(standby.port)
  const promotedAt = performance.now()
  await proxy.accept()
  await server.stop()
  const workflows = [...new Set(crew.started.values()), fresh]
  const late = await goOn({ crew, workflows, confirmed, n })
  for (const { worker, wentBack } of earlier)
    if (!(await until(BOUND_MS, 50, () => worker.wentBack > wentBack)))
      late.push(`${worker.name} did not say that the store went back at promotion ${n}`)
  const seconds = ((performance.now() - promotedAt) / 1_000).toFixed(1)
  const lost = [...confirmed].filter((id) => LOST.has(crew.ended.get(id) ?? '')).length
  return {
    server: standby,
    late,
    text: `everything went on within ${seconds} s; ${lost} awaited runs were lost so far`,
  }
}

/** Waits until a run of each workflow, started after the promotion, has completed, and one that no caller started: its schedule's. */
async function goOn({
  crew,
  workflows,
  confirmed,
  n,
}: {
  readonly crew: Crew
  readonly workflows: readonly string[]
  readonly confirmed: ReadonlySet<string>
  readonly n: number
}): Promise<string[]> {
  const from = crew.effects.length
  const after = (workflow: string) =>
    [...crew.started].some(
      ([id, of]) => of === workflow && !confirmed.has(id) && crew.ended.get(id) === 'completed',
    )
  const ticked = (workflow: string) =>
    crew.effects.slice(from).some(({ runId, workflow: of }) => of === workflow && !crew.started.has(runId))
  const late: string[] = []
  for (const workflow of new Set(workflows)) {
    if (!(await until(BOUND_MS, 50, () => after(workflow))))
      late.push(`no run of ${workflow} was started and completed after promotion ${n}`)
    if (!(await until(BOUND_MS, 50, () => ticked(workflow))))
      late.push(`the schedule of ${workflow} did not fire after promotion ${n}`)
  }
  return late
}

/** Starts nothing more, lets every run end and every wait, and reads what the store has. */
async function atRest(server: PostgresServer, database: string, crew: Crew): Promise<readonly StoredRun[]> {
  crew.tell({ type: 'rest' })
  const client = new pg.Client({ connectionString: server.url.replace(/[^/]*$/, database) })
  await client.connect()
  try {
    await client.query('delete from belay.workflow_schedules')
    await until(BOUND_MS, 100, async () => {
      const { rows } = await client.query<{ live: boolean }>(
        `select exists (select from belay.workflow_runs where status <> 'completed') as live`,
      )
      return rows[0]!.live === false && [...crew.started.keys()].every((id) => crew.ended.has(id))
    })
    const { rows } = await client.query<StoredRun>(
      `select r.id, r.workflow, d.name as defined, r.status, r.input::json ->> 'of' as of
       from belay.workflow_runs r left join belay.workflow_definitions d on d.id = r.definition_id`,
    )
    return rows
  } finally {
    await client.end()
  }
}

function summary(
  promotions: number,
  { ended, effects, refused }: Crew,
  runs: readonly StoredRun[],
  violations: readonly string[],
): string {
  const lost = [...ended.values()].filter((how) => LOST.has(how)).length
  const stored = new Set(runs.map(({ id }) => id))
  const gone = [...ended].filter(([id, how]) => how === 'completed' && !stored.has(id)).length
  const refusals = [...refused].map(([code, count]) => `${count} × ${code}`).join(', ') || 'none'
  const counts = `${promotions} promotions: ${runs.length} runs survived, ${gone} that had completed and ${lost} that were awaited were lost, ${effects.length} calls of handlers, starts refused: ${refusals}`
  if (violations.length === 0) return `Good. ${counts}.`
  return [`BROKEN: ${counts}.`, ...violations.slice(0, 20), `${violations.length} violations in all.`].join(
    '\n  ',
  )
}
