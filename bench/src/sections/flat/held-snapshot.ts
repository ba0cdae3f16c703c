import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../../bench.ts'
import { withClient } from '../../database.ts'
import { median } from '../../report/figures.ts'
import { withWorker } from '../../worker/with-worker.ts'
import type { WorkerProcess } from '../../worker/worker-process.ts'
import { WORKLOADS } from '../../workloads.ts'
import type { Recorder } from '../section.ts'
import { checkSpace, heldBytes, isSpaceShort } from './disk.ts'

// Enough that the worker never waits for the starter, and little enough that the queue stays small.
const BACKLOG_LOW = 5_000
const BATCH_RUNS = 2_500
const LOOK_EVERY_MS = 20

/** What is compared: the first and the last tenth of the time, each cut into this many parts. */
const PARTS = 5
const SHARE = 0.1

/** A worker that is fed all the time, while a snapshot taken at the start pins every dead row. Records its rate at the start and at the end. */
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
          const ends = await drainAndFeed({ worker, starter, bench })
          await client.query('rollback')
          recordRates(ends, { record, reference, bench })
        }),
      ),
    )
  })
}

interface Ended {
  readonly runs: number
  readonly atMs: number
}

/** Answers how many runs had ended when, from the beginning to the end. */
async function drainAndFeed(given: {
  worker: WorkerProcess
  starter: WorkerProcess
  bench: Bench
}): Promise<readonly Ended[]> {
  const { worker, starter, bench } = given
  await worker.tell('work', null)
  const since = performance.now()
  const ends: Ended[] = []
  let started = BACKLOG_LOW
  let tellAt = since + 60_000
  while (performance.now() - since < bench.holdMs) {
    if (worker.failure !== undefined) throw worker.failure
    if (worker.ended.runs > (ends.at(-1)?.runs ?? 0)) ends.push(worker.ended)
    if (started - worker.ended.runs < BACKLOG_LOW) {
      await starter.tell('startRuns', { count: BATCH_RUNS, by: 'bulk' })
      started += BATCH_RUNS
    } else {
      await delay(LOOK_EVERY_MS)
    }
    if (performance.now() < tellAt) continue
    tellAt += 60_000
    bench.progress(`flat: snapshot held: ${worker.ended.runs.toLocaleString('en-US')} runs drained`)
    if (await isSpaceShort(bench)) {
      bench.progress('flat: the disk is nearly full; the snapshot is let go of early')
      break
    }
  }
  return ends
}

function recordRates(
  ends: readonly Ended[],
  { record, reference, bench }: { record: Recorder; reference: number; bench: Bench },
): void {
  const first = ends[0]?.atMs ?? 0
  const tookMs = (ends.at(-1)?.atMs ?? 0) - first
  const partMs = (tookMs * SHARE) / PARTS
  const rates = (fromMs: number) =>
    Array.from({ length: PARTS }, (_, part) => stepsPerSecond(ends, fromMs + part * partMs, partMs))
  const start = median(rates(first))
  const end = median(rates(first + tookMs * (1 - SHARE)))
  const condition = `a snapshot held open for ${Math.round(tookMs / 1_000)} s of draining and starting runs`
  record.add(`${condition}: at the start`, { unit: 'steps/s', value: start, reference })
  record.add(`${condition}: at the end`, { unit: 'steps/s', value: end, reference })
  record.add(`${condition}: end against start`, { unit: '%', value: (end / start) * 100 })
  record.note(
    `The snapshot is held once, not in every round. Start and end are medians of ${PARTS} parts of the first and the last tenth of the time; another process starts runs all the while.`,
  )
  bench.progress(
    `flat: snapshot held: ${Math.round(start)} steps/s at the start, ${Math.round(end)} at the end`,
  )
}

function stepsPerSecond(ends: readonly Ended[], fromMs: number, lengthMs: number): number {
  const runsAt = (ms: number) => ends.findLast((ended) => ended.atMs <= ms)?.runs ?? 0
  const runs = runsAt(fromMs + lengthMs) - runsAt(fromMs)
  return (runs * WORKLOADS.chain.stepsPerRun) / (lengthMs / 1_000)
}
