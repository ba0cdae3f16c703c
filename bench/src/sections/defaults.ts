import type { Bench } from '../bench.ts'
import { drain } from '../drain.ts'
import { quantile } from '../report/figures.ts'
import { withWorker } from '../worker/with-worker.ts'
import { WorkerProcess } from '../worker/worker-process.ts'
import { runsOf, WORKLOADS, type WorkloadName } from '../workloads.ts'
import { latencyRuns } from './latency.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const IN_FLIGHT = 200

interface Drained {
  readonly name: string
  readonly workload: WorkloadName
  readonly awaits?: boolean
}

const DRAINED: readonly Drained[] = [
  { name: 'chain of 3, default settings', workload: 'chain' },
  {
    name: 'chain of 3, default settings, every result awaited in the worker',
    workload: 'chain',
    awaits: true,
  },
  { name: '1 → 50 → 1, default settings', workload: 'fan50' },
  { name: 'saga, default settings', workload: 'saga' },
]

/** What a new user measures first: nothing set but the adapter and the workflows, and the results awaited. */
export const defaultsSection: Section = {
  name: 'defaults',
  about:
    'an engine with default settings: steps/s with and without awaited results, and result() from another process',
  async measure(bench, record) {
    await eachRound(bench, async (round) => {
      for (const part of DRAINED) {
        await record.attempt(part.name, () => drainOnce(part, { bench, record, round }))
      }
      await record.attempt('run and await', () => runAndAwait({ bench, record, round }))
      await record.attempt('results elsewhere', () => resultsElsewhere({ bench, record, round }))
    })
    record.note(
      `Default settings: createEngine() with an adapter and the workflows, and nothing else. “Run and awaited” keeps ${IN_FLIGHT} calls of run() and result() going in the worker’s process. “From another process”: a process without a worker starts a run, and awaits it; one run after another on an idle system; the end is the beginning of the transaction that stores it.`,
    )
  },
}

interface Round {
  readonly bench: Bench
  readonly record: Recorder
  readonly round: number
}

async function drainOnce(
  { name, workload, awaits = false }: Drained,
  { bench, record, round }: Round,
): Promise<void> {
  const runs = runsOf(workload, bench)
  const warmUpRuns = bench.quick ? 0 : Math.ceil(runs / 5)
  const reference = await bench.reference()
  const { stepsPerSecond } = await bench.server.freshDatabase((url) =>
    drain({
      ...{ store: { kind: 'postgres', url }, workload, runs, warmUpRuns },
      ...{ startedBy: 'itself', settings: 'default', awaitsResults: awaits },
    }),
  )
  record.add(name, { unit: `${WORKLOADS[workload].what}/s`, value: stepsPerSecond, reference })
  bench.progress(`round ${round}: ${name}: ${Math.round(stepsPerSecond)} ${WORKLOADS[workload].what}/s`)
}

async function runAndAwait({ bench, record, round }: Round): Promise<void> {
  const runs = runsOf('chain', bench)
  const reference = await bench.reference()
  await bench.server.freshDatabase((url) =>
    withWorker(
      {
        store: { kind: 'postgres', url },
        workload: 'chain',
        warmUpRuns: bench.quick ? 0 : runs / 5,
        settings: 'default',
      },
      async (worker) => {
        await worker.tell('work', null)
        const { seconds } = await worker.tell('runAndAwait', { runs, inFlight: IN_FLIGHT })
        const name = `chain of 3, default settings, run and awaited, ${IN_FLIGHT} at once`
        const value = (runs * WORKLOADS.chain.stepsPerRun) / seconds
        record.add(name, { unit: 'steps/s', value, reference })
        bench.progress(`round ${round}: ${name}: ${Math.round(value)} steps/s`)
      },
    ),
  )
}

async function resultsElsewhere({ bench, record, round }: Round): Promise<void> {
  const setup = { workload: 'chain', warmUpRuns: 0, settings: 'default' } as const
  await bench.server.freshDatabase(async (url) => {
    const store = { kind: 'postgres', url } as const
    await withWorker({ ...setup, store }, async (worker) => {
      await worker.tell('work', null)
      const caller = await WorkerProcess.open({ ...setup, store, name: 'bench_caller' })
      try {
        const { sinceRunMs, sinceEndMs } = await caller.tell('measureResults', { runs: latencyRuns(bench) })
        for (const [name, share] of [
          ['p50', 0.5],
          ['p99', 0.99],
        ] as const) {
          record.add(`\`result()\` from another process, since \`run()\`, ${name}`, {
            unit: 'ms',
            value: quantile(sinceRunMs, share),
          })
          record.add(`\`result()\` from another process, since the end, ${name}`, {
            unit: 'ms',
            value: quantile(sinceEndMs, share),
          })
        }
        bench.progress(
          `round ${round}: result() from another process: p50 ${quantile(sinceEndMs, 0.5).toFixed(1)} ms after the end`,
        )
      } finally {
        await caller.close()
      }
    })
  })
}
