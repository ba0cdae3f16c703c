import type { Bench } from '../../bench.ts'
import { latencyRuns, measureIdleLatency } from '../latency.ts'
import { eachRound, type Recorder, type Section } from '../section.ts'
import { drainChain, drainUnder, type FlatBench } from './condition.ts'
import { measureDashboards } from './dashboards.ts'
import { measureWhileDeleting } from './deleting.ts'
import { checkSpace, historyBytes } from './disk.ts'
import { measureHeldSnapshot } from './held-snapshot.ts'
import { loadHistory, rewriteHistory, STEPS_PER_RUN } from './history.ts'
import { measureStatistics } from './statistics.ts'
import { measureWithWaiting } from './waiting.ts'

export const flatSection: Section = {
  name: 'flat',
  about:
    'the chain of 3 with 10 million finished runs, while they are deleted, right after VACUUM FULL, with 100,000 runs waiting, under a held snapshot, and with missing or misleading statistics; what dashboards ask',
  async measure(bench, record) {
    await bench.server.freshDatabase(async (url) => {
      const isLoaded = await record.attempt('the history', async () => {
        await checkSpace(bench, 'The history', historyBytes(bench))
        await loadHistory(url, bench)
      })
      const historyUrl = isLoaded ? url : undefined
      if (isLoaded) await record.attempt('dashboards', () => measureDashboards(url, { bench, record }))
      await eachRound(bench, async (round) => {
        bench.progress(`flat: round ${round}`)
        await record.attempt(`round ${round}`, () => measureRound({ historyUrl, bench, record }))
      })
      if (isLoaded) {
        await record.attempt('the tables written anew', () => measureRewritten({ bench, record, url }))
      }
    })
    await record.attempt('a snapshot held open', () => measureHeldSnapshot(bench, record))
    record.note(
      `The history: ${bench.historyRuns.toLocaleString('en-US')} finished runs of the past year, made by SQL, of nine workflows including the measured one; ${STEPS_PER_RUN} step rows a run (1 to 3); its pages as full as the engine leaves them, vacuumed and analyzed once, when nothing was ready. VACUUM FULL, done once after the rounds, leaves room for one new row on every old page, as a restored dump does; that lasts until those pages are used up. Every condition is compared with empty tables in the same round.`,
    )
  },
}

async function measureRound(given: {
  historyUrl: string | undefined
  bench: Bench
  record: Recorder
}): Promise<void> {
  const { historyUrl, bench, record } = given
  const emptyStepsPerSecond = await measureEmpty(bench, record)
  const flat: FlatBench = { bench, record, emptyStepsPerSecond }
  if (historyUrl !== undefined) await measureWithHistory({ ...flat, url: historyUrl })
  await record.attempt('runs waiting', () => measureWithWaiting(flat))
  await measureStatistics(flat)
}

async function measureWithHistory(given: FlatBench & { url: string }): Promise<void> {
  const { bench, record, url } = given
  const history = `with ${bench.historyRuns.toLocaleString('en-US')} finished runs`
  await record.attempt(history, async () => {
    await drainUnder(history, given)
    await measureIdleLatency(url, { runs: latencyRuns(bench), record, where: ` ${history}` })
  })
  await record.attempt('deleting finished runs', () => measureWhileDeleting(given))
}

async function measureRewritten({
  bench,
  record,
  url,
}: {
  bench: Bench
  record: Recorder
  url: string
}): Promise<void> {
  await checkSpace(bench, 'Writing the tables anew', historyBytes(bench))
  await rewriteHistory(url, bench)
  const emptyStepsPerSecond = await measureEmpty(bench, record)
  await drainUnder('with that history right after VACUUM FULL', { bench, record, emptyStepsPerSecond, url })
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
