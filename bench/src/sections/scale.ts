import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { databaseOf, withClient } from '../database.ts'
import { type Drained, drain } from '../drain.ts'
import { type Heartbeats, registerSimulatedWorkers } from '../heartbeats.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const WORKER_COUNTS = [1, 2, 4]
const SIMULATED_WORKERS = 1_000
const RUNS = 60_000
const SAMPLE_EVERY_MS = 50
// The default of `connectionsMax`.
const CONNECTIONS_MAX = 5

export const scaleSection: Section = {
  name: 'scale',
  about: '1, 2 and 4 worker processes on one database, while 1,000 simulated workers renew their leases',
  async measure(bench, record) {
    await eachRound(bench, async (round) => {
      let alone: number | undefined
      for (const workers of WORKER_COUNTS) {
        await record.attempt(`${workers} workers`, async () => {
          const reference = await bench.reference()
          const stepsPerSecond = await measureWith(workers, { bench, record, reference })
          bench.progress(`round ${round}: ${workers} workers: ${Math.round(stepsPerSecond)} steps/s`)
          if (workers === 1) alone = stepsPerSecond
          else if (alone !== undefined) {
            record.add(`${workers} workers against 1`, { unit: '%', value: (stepsPerSecond / alone) * 100 })
          }
        })
      }
    })
    record.note(
      `Scale-out: each worker is a process with its own adapter and pool, all on this machine's cores; another process starts the runs. ${SIMULATED_WORKERS.toLocaleString('en-US')} registered workers renew their leases meanwhile, each every 10 s. Default limit of connections per worker: ${CONNECTIONS_MAX}, including the one that listens.`,
    )
  },
}

async function measureWith(
  workers: number,
  { bench, record, reference }: { bench: Bench; record: Recorder; reference: number },
): Promise<number> {
  const workersName = workers === 1 ? '1 worker' : `${workers} workers`
  return bench.server.freshDatabase(async (url) => {
    const connections = new Map<string, number>()
    let heartbeats: Heartbeats | undefined
    let renewals = 0
    const drained: Drained = await drain(
      {
        store: { kind: 'postgres', url },
        workload: 'chain',
        runs: bench.quick ? RUNS / 20 : RUNS,
        workers,
        warmUpRuns: bench.quick ? 0 : 2_000,
      },
      {
        async ready() {
          heartbeats = await registerSimulatedWorkers(url, SIMULATED_WORKERS)
        },
        async during(signal) {
          const counting = countConnections({ serverUrl: bench.server.url, url, connections, signal })
          renewals = (await heartbeats?.renewUntil(signal)) ?? 0
          await counting
        },
      },
    ).finally(() => heartbeats?.close())
    const { stepsPerSecond, seconds } = drained
    record.add(`chain of 3, ${workersName}`, { unit: 'steps/s', value: stepsPerSecond, reference })
    for (const share of workers > 1 ? await sharesOf(url) : []) {
      record.add(`${workersName}: share of the steps, of each worker`, { unit: '%', value: share * 100 })
    }
    const most = Math.max(0, ...connections.values())
    record.add(`${workersName}: connections of one worker under load, at most`, {
      unit: 'connections',
      value: most,
    })
    record.add(`${workersName}: leases of others renewed meanwhile`, {
      unit: 'renewals/s',
      value: renewals / seconds,
    })
    return stepsPerSecond
  })
}

/** Notes the highest number of connections seen for each worker. */
async function countConnections(given: {
  serverUrl: string
  url: string
  connections: Map<string, number>
  signal: AbortSignal
}): Promise<void> {
  await withClient(given.serverUrl, async (client) => {
    while (!given.signal.aborted) {
      const { rows } = await client.query<{ name: string; count: number }>(
        `select application_name as name, count(*)::int as count from pg_stat_activity
         where datname = $1 and application_name like 'bench_worker_%' group by application_name`,
        [databaseOf(given.url)],
      )
      for (const { name, count } of rows) {
        given.connections.set(name, Math.max(count, given.connections.get(name) ?? 0))
      }
      await delay(SAMPLE_EVERY_MS, undefined, { signal: given.signal }).catch(() => {})
    }
  })
}

/** The share of all steps that each worker has run, by the rows it left. */
async function sharesOf(url: string): Promise<number[]> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ share: number }>(
      `select count(*)::float8 / sum(count(*)) over ()::float8 as share from belay.workflow_steps group by worker_id`,
    ),
  )
  return rows.map(({ share }) => share)
}
