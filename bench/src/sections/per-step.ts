import { databaseOf, withClient } from '../database.ts'
import { drain } from '../drain.ts'
import { type CpuMeter, openCpuMeter } from '../postgres-cpu.ts'
import { logPosition, transactionsOf, untilDisconnected, type Writes, writesOf } from '../server-counters.ts'
import { runsOf, WORKLOADS } from '../workloads.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

export const perStepSection: Section = {
  name: 'per-step',
  about: 'round trips, commits, WAL, CPU of both processes, dead rows and growth per step of a chain of 3',
  async measure(bench, record) {
    const meter = await openCpuMeter(bench.server)
    if (meter === undefined) {
      record.note('CPU of PostgreSQL: not measured; it needs Linux and a server that the benchmark started.')
    }
    const runs = runsOf('chain', bench) * 2
    await eachRound(bench, async (round) => {
      await bench.reference()
      await bench.server.freshDatabase((url) =>
        measureOnce({ url, serverUrl: bench.server.url, runs, quick: bench.quick, meter, record }),
      )
      bench.progress(`round ${round}: costs per step`)
    })
    record.note(
      "Per step: one worker drains a chain of 3 that another process started; everything that the server does meanwhile counts, including autovacuum; round trips are counted in the worker, commits and rows are PostgreSQL's own counts.",
    )
  },
}

interface Costs {
  logBytes: number
  postgresMs: number | undefined
}

async function measureOnce(given: {
  url: string
  serverUrl: string
  runs: number
  quick: boolean
  meter: CpuMeter | undefined
  record: Recorder
}): Promise<void> {
  const { url, serverUrl, runs, meter } = given
  const database = databaseOf(url)
  // Connects to another database, so that it does not count in the measured one.
  await withClient(serverUrl, async (client) => {
    const look = async (): Promise<Costs> => ({
      logBytes: await logPosition(client),
      postgresMs: await meter?.(),
    })
    let before: Costs | undefined
    let after: Costs | undefined
    let commits = 0
    let writes: Writes | undefined
    const drained = await drain(
      {
        store: { kind: 'postgres', url },
        workload: 'chain',
        runs,
        warmUpRuns: given.quick ? 0 : Math.ceil(runs / 5),
      },
      {
        async ready() {
          await untilDisconnected(client, { database, except: 'bench_worker_1' })
          writes = await writesOf(url)
          commits = await transactionsOf(client, database)
          before = await look()
        },
        async drained() {
          after = await look()
        },
      },
    )
    // A connection's counts are complete once it is gone.
    await untilDisconnected(client, { database })
    const steps = runs * WORKLOADS.chain.stepsPerRun
    const [worker] = drained.usages
    const add = (name: string, unit: string, value: number) => given.record.add(name, { unit, value })
    add('per step: round trips', 'statements', worker!.statements / steps)
    add('per step: commits', 'commits', ((await transactionsOf(client, database)) - commits) / steps)
    add('per step: WAL', 'bytes', (after!.logBytes - before!.logBytes) / steps)
    if (after!.postgresMs !== undefined && before!.postgresMs !== undefined) {
      add('per step: PostgreSQL CPU', 'µs', ((after!.postgresMs - before!.postgresMs) * 1_000) / steps)
    }
    add('per step: Node CPU', 'µs', (worker!.cpuMs * 1_000) / steps)
    recordWrites(add, { before: writes!, after: await writesOf(url), steps })
  })
}

function recordWrites(
  add: (name: string, unit: string, value: number) => void,
  { before, after, steps }: { before: Writes; after: Writes; steps: number },
): void {
  const thousands = steps / 1_000
  const updates = after.updates - before.updates
  const dead = updates + after.deletes - before.deletes
  add('per 1,000 steps: rows that died (updated or deleted)', 'rows', dead / thousands)
  add('… of the updates, those that touched no index (HOT)', '%', ((after.hot - before.hot) / updates) * 100)
  add('per 1,000 steps: dead rows not vacuumed at the end', 'rows', (after.dead - before.dead) / thousands)
  add('per 1,000 steps: growth of tables and indexes', 'bytes', (after.bytes - before.bytes) / thousands)
}
