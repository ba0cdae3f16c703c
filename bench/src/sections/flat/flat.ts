import type { Bench } from '../../bench.ts'
import { latencyRuns, measureIdleLatency } from '../latency.ts'
import { eachRound, type Recorder, type Section } from '../section.ts'
import { drainChain, drainUnder, type FlatBench } from './condition.ts'
import { measureDashboards } from './dashboards.ts'
import { measureWhileDeleting } from './deleting.ts'
import { checkSpace, historyBytes } from './disk.ts'
import { measureHeldSnapshot } from './held-snapshot.ts'
import { loadHistory, STEPS_PER_RUN } from './history.ts'
import { measureStatistics } from './statistics.ts'
import { measureWithWaiting } from './waiting.ts'

export const flatSection: Section = {
  name: 'flat',
  about:
    'the chain of 3 with 10 million finished runs, while they are deleted, with 100,000 runs waiting, under a held snapshot, and with missing or misleading statistics; what dashboards ask',
  async measure(bench, record) {
    await checkSpace(bench, 'The history', historyBytes(bench))
    await bench.server.freshDatabase(async (url) => {
      await loadHistory(url, bench)
      await measureDashboards(url, { bench, record })
      await eachRound(bench, (round) => measureRound({ url, bench, record, round }))
    })
    await measureHeldSnapshot(bench, record)
    record.note(
      `The history: ${bench.historyRuns.toLocaleString('en-US')} finished runs of the year past, made by SQL, of nine workflows, the measured one among them; ${STEPS_PER_RUN} step rows a run (1 to 3); vacuumed and analyzed once, when nothing was ready. Every condition is compared with empty tables in the same round.`,
    )
  },
}

async function measureRound(given: {
  url: string
  bench: Bench
  record: Recorder
  round: number
}): Promise<void> {
  const { url, bench, record } = given
  bench.progress(`flat: round ${given.round}`)
  const emptyStepsPerSecond = await measureEmpty(bench, record)
  const flat: FlatBench = { bench, record, emptyStepsPerSecond }
  const history = `with ${bench.historyRuns.toLocaleString('en-US')} finished runs`
  await drainUnder(history, { ...flat, url })
  await measureIdleLatency(url, { runs: latencyRuns(bench), record, where: ` ${history}` })
  await measureWhileDeleting({ ...flat, url })
  await measureWithWaiting(flat)
  await measureStatistics(flat)
}

async function measureEmpty(bench: Bench, record: Recorder): Promise<number> {
  const reference = await bench.reference()
  return bench.server.freshDatabase(async (url) => {
    const { stepsPerSecond } = await drainChain(bench, url)
    record.add('chain of 3, on empty tables', { unit: 'steps/s', value: stepsPerSecond, reference })
    bench.progress(`flat: on empty tables: ${Math.round(stepsPerSecond)} steps/s`)
    await measureIdleLatency(url, { runs: latencyRuns(bench), record, where: ' on empty tables' })
    return stepsPerSecond
  })
}
