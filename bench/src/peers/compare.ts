import { whole } from '../figures.ts'
import { measureReference, prepareReference, type Reference } from '../reference.ts'
import { compete } from './compete.ts'
import type { Measured, Report } from './contender.ts'
import { type Contender, contenders } from './contenders.ts'
import { withFreshDatabase } from './database.ts'
import { installPeers } from './install.ts'
import { type Row, table } from './table.ts'

/**
 * Runs Belay and its peers by turns on one server, each workload in a fresh database and a process of its own, and prints the table. What
 * can't be installed, crashes or doesn't finish says so in its row and stops nobody.
 */
export async function comparePeers(given: { url: string; quick: boolean }): Promise<void> {
  const notInstalled = installPeers()
  await prepareReference(given.url)
  const rows: Row[] = contenders(given).map((contender) => ({
    contender,
    drains: [],
    latencies: [],
    reason: contender.isBelay ? undefined : notInstalled,
  }))
  const rounds = given.quick ? 1 : 3
  for (let round = 0; round < rounds; round += 1) {
    for (const row of rows) {
      if (row.reason === undefined) await playRound(row, { ...given, round })
    }
  }
  console.log(table(rows, { rounds }))
}

async function playRound(row: Row, given: { url: string; quick: boolean; round: number }): Promise<void> {
  const reference = await measureReference(given.url, given.quick ? 1 : 3)
  const drained = await play(row.contender, given, {
    drainRuns: row.contender.drainRuns,
    latencyRuns: 0,
  })
  const single = await play(row.contender, given, { drainRuns: 0, latencyRuns: given.quick ? 20 : 200 })
  if ('measured' in drained) row.drains.push({ ...drained.measured, round: given.round, reference })
  if ('measured' in single) row.latencies.push(...single.measured.latenciesMs)
  if ('reason' in drained) row.reason = drained.reason
  else if ('reason' in single) row.reason = `idle latency: ${single.reason}`
  console.log(progress(row.contender, { round: given.round, reference, drained }))
}

function play(
  contender: Contender,
  given: { url: string; quick: boolean },
  size: { drainRuns: number; latencyRuns: number },
): Promise<Report> {
  return withFreshDatabase(given.url, (url) =>
    compete(
      { module: contender.module, url, ...size, latencyBudgetMs: given.quick ? 5_000 : 15_000 },
      { timeoutMs: given.quick ? 60_000 : 180_000 },
    ),
  )
}

function progress(
  contender: Contender,
  given: { round: number; reference: Reference; drained: Report },
): string {
  const outcome = 'measured' in given.drained ? figures(given.drained.measured) : given.drained.reason
  return `round ${given.round + 1}   ${contender.name}: ${outcome} (reference ${whole(given.reference.updatesPerSecond)})`
}

function figures(measured: Measured): string {
  return `${whole(measured.stepsPerSecond)} steps/s, ${whole(measured.startedPerSecond)} started/s`
}
