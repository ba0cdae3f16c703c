import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../../bench.ts'
import { withClient } from '../../database.ts'
import { withWorker } from '../../worker/with-worker.ts'
import type { WorkerProcess } from '../../worker/worker-process.ts'
import { WORKLOADS } from '../../workloads.ts'
import type { Recorder } from '../section.ts'
import { checkSpace, heldBytes, isSpaceShort } from './disk.ts'

// Large enough that the worker never waits for the starter, and small enough that the queue stays small.
const BACKLOG_LOW = 10_000
const BATCH_RUNS = 2_500
const LOOK_EVERY_MS = 20
const REPORT_EVERY_MS = 60_000

/** Compares the first and the last tenth of the time. */
const SHARE = 0.1

/** A continuously fed worker, while a snapshot taken at the start pins every dead row. Records its rate at the start and at the end. */
export async function measureHeldSnapshot(bench: Bench, record: Recorder): Promise<void> {
  await checkSpace(bench, 'Holding a snapshot open', heldBytes(bench))
  const reference = await bench.reference()
  await bench.server.freshDatabase((url) => {
    const setup = { store: { kind: 'postgres', url }, workload: 'chain' } as const
    return withWorker({ ...setup, warmUpRuns: bench.quick ? 0 : 4_000 }, (worker) =>
      withWorker({ ...setup, warmUpRuns: 0 }, (starter) =>
        withClient(url, async (client) => {
          await starter.tell('startRuns', { count: BACKLOG_LOW, by: 'bulk' })
          await client.query('begin isolation level repeatable read')
          await client.query('select count(*) from belay.workflow_runs')
          const feeding = await drainAndFeed({ worker, starter, bench })
          await client.query('rollback')
          recordRates(feeding, { record, reference, bench })
        }),
      ),
    )
  })
}

interface Ended {
  readonly runs: number
  readonly atMs: number
}

interface Feeding {
  /** How many runs had ended at which time, from the beginning to the end. */
  readonly ends: readonly Ended[]
  /** The fewest runs that waited for the worker. At 0, the starter limited the rate. */
  readonly backlogMin: number
}

async function drainAndFeed(given: {
  worker: WorkerProcess
  starter: WorkerProcess
  bench: Bench
}): Promise<Feeding> {
  const { worker, starter, bench } = given
  const ends: Ended[] = []
  worker.onChange(() => ends.push(worker.ended))
  await worker.tell('work', null)
  const since = performance.now()
  let reportAt = since + REPORT_EVERY_MS
  let started = BACKLOG_LOW
  let backlogMin = started
  while (performance.now() - since < bench.holdMs) {
    if (worker.failure !== undefined) throw worker.failure
    const backlog = started - worker.ended.runs
    backlogMin = Math.min(backlog, backlogMin)
    if (backlog < BACKLOG_LOW) {
      await starter.tell('startRuns', { count: BATCH_RUNS, by: 'bulk' })
      started += BATCH_RUNS
    } else {
      await delay(LOOK_EVERY_MS)
    }
    if (performance.now() < reportAt) continue
    reportAt += REPORT_EVERY_MS
    bench.progress(`flat: snapshot held: ${worker.ended.runs.toLocaleString('en-US')} runs drained`)
    if (await isSpaceShort(bench)) {
      bench.progress('flat: the disk is nearly full; the snapshot is released early')
      break
    }
  }
  return { ends, backlogMin }
}

function recordRates(
  { ends, backlogMin }: Feeding,
  { record, reference, bench }: { record: Recorder; reference: number; bench: Bench },
): void {
  const first = ends[0]?.atMs ?? 0
  const last = ends.at(-1)?.atMs ?? 0
  const lengthMs = (last - first) * SHARE
  const start = stepsPerSecond(ends, first, lengthMs)
  const end = stepsPerSecond(ends, last - lengthMs, lengthMs)
  const condition = `a snapshot held open for ${Math.round((last - first) / 1_000)} s of draining and starting runs`
  record.add(`${condition}: in the first tenth`, { unit: 'steps/s', value: start, reference })
  record.add(`${condition}: in the last tenth`, { unit: 'steps/s', value: end, reference })
  record.add(`${condition}: last against first`, { unit: '%', value: (end / start) * 100 })
  record.add(`${condition}: fewest runs waiting for the worker`, { unit: 'runs', value: backlogMin })
  record.note(
    'The snapshot is held once, not in every round, while a worker continuously drains runs and another process starts them.',
  )
  bench.progress(`flat: snapshot held: ${Math.round(start)} steps/s at first, ${Math.round(end)} at last`)
}

function stepsPerSecond(ends: readonly Ended[], fromMs: number, lengthMs: number): number {
  const runsAt = (ms: number) => ends.findLast((ended) => ended.atMs <= ms)?.runs ?? 0
  const runs = runsAt(fromMs + lengthMs) - runsAt(fromMs)
  return (runs * WORKLOADS.chain.stepsPerRun) / (lengthMs / 1_000)
}
