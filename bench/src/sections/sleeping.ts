import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { quantile } from '../report/figures.ts'
import { withWorker } from '../worker/with-worker.ts'
import type { WorkerProcess } from '../worker/worker-process.ts'
import type { Recorder, Section } from './section.ts'

const SETTLE_MS = 1_000

export const sleepingSection: Section = {
  name: 'sleeping',
  about:
    '100,000 runs that sleep or wait for a signal: what they cost an idle worker, and how fast one of them is woken',
  async measure(bench, record) {
    const count = bench.quick ? 5_000 : 100_000
    await bench.reference()
    await bench.server.freshDatabase((url) =>
      withWorker({ store: { kind: 'postgres', url }, workload: 'patient', warmUpRuns: 0 }, async (worker) => {
        await worker.tell('work', null)
        await measureIdling(bench, worker, { record, where: 'no runs' })
        bench.progress(`putting ${count} runs to sleep`)
        await worker.tell('putToSleep', { count })
        const where = `${count.toLocaleString('en')} waiting runs`
        await measureIdling(bench, worker, { record, where })
        await measureWakes(bench, worker, { record, where })
      }),
    )
  },
}

async function measureIdling(
  bench: Bench,
  worker: WorkerProcess,
  { record, where }: { record: Recorder; where: string },
): Promise<void> {
  const ms = bench.quick ? 3_000 : 20_000
  for (let round = 1; round <= bench.rounds; round += 1) {
    await delay(SETTLE_MS)
    const before = await worker.tell('usage', null)
    await delay(ms)
    const after = await worker.tell('usage', null)
    const perSecond = (after.statements - before.statements) / (ms / 1_000)
    record.add(`idle worker, ${where}`, { unit: 'statements/s', value: perSecond })
    const cpuShare = (after.cpuMs - before.cpuMs) / ms
    record.add(`idle worker, ${where}: Node CPU, share of one core`, { unit: '%', value: cpuShare * 100 })
    bench.progress(`round ${round}: idle beside ${where}: ${perSecond.toFixed(1)} statements/s`)
  }
}

async function measureWakes(
  bench: Bench,
  worker: WorkerProcess,
  { record, where }: { record: Recorder; where: string },
): Promise<void> {
  for (let round = 1; round <= bench.rounds; round += 1) {
    const { timerMs, signalMs } = await worker.tell('measureWakes', { times: bench.quick ? 5 : 50, round })
    for (const [what, sample] of [
      ['from a timer’s time to the run’s completion', timerMs],
      ['from `signal()` to the run’s completion', signalMs],
    ] as const) {
      record.add(`${where}: ${what}, p50`, { unit: 'ms', value: quantile(sample, 0.5) })
      record.add(`${where}: ${what}, p95`, { unit: 'ms', value: quantile(sample, 0.95) })
    }
    bench.progress(`round ${round}: woken by a timer in ${quantile(timerMs, 0.5).toFixed(1)} ms (p50)`)
  }
}
