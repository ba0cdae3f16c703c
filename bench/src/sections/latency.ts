import { quantile } from '../report/figures.ts'
import { withWorker } from '../worker/with-worker.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const SHARES = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const

export const latencySection: Section = {
  name: 'latency',
  about: 'one run of a chain of 3 on an idle system: until it is completed, and until result() answers',
  async measure(bench, record) {
    await eachRound(bench, async (round) => {
      await bench.reference()
      await bench.server.freshDatabase(async (url) => {
        const p50 = await measureIdleLatency(url, { runs: latencyRuns(bench), record })
        bench.progress(`round ${round}: idle latency: p50 ${p50.toFixed(1)} ms`)
      })
    })
    record.note(
      `Latency: ${latencyRuns(bench)} runs one after another in each round, from the call of \`run()\` until its worker knows that the completion is committed; \`result()\`: how much later it resolved.`,
    )
  },
}

export function latencyRuns({ quick }: { quick: boolean }): number {
  return quick ? 50 : 500
}

/** Measures latencies of single runs in an otherwise idle database. Resolves to the median. */
export function measureIdleLatency(
  url: string,
  given: { runs: number; record: Recorder; where?: string },
): Promise<number> {
  const { runs, record, where = '' } = given
  return withWorker(
    { store: { kind: 'postgres', url }, workload: 'chain', warmUpRuns: 0 },
    async (worker) => {
      const { completedMs, resultAfterMs } = await worker.tell('measureLatencies', { runs })
      for (const [name, share] of SHARES) {
        record.add(`idle latency of one 3-step run${where}, ${name}`, {
          unit: 'ms',
          value: quantile(completedMs, share),
        })
      }
      for (const [name, share] of SHARES) {
        record.add(`\`result()\` after completion${where}, ${name}`, {
          unit: 'ms',
          value: quantile(resultAfterMs, share),
        })
      }
      return quantile(completedMs, 0.5)
    },
  )
}
