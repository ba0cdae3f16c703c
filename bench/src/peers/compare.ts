import type { Bench } from '../bench.ts'
import { withFreshDatabase } from '../database.ts'
import { whole } from '../report/figures.ts'
import { compete } from './compete.ts'
import type { Measured, Report } from './contender.ts'
import { type Contender, contenders } from './contenders.ts'
import { installPeers } from './install.ts'
import type { Row } from './table.ts'

/**
 * Runs Belay and its peers in turn on one server, each workload in a fresh database and its own process. If a peer cannot be installed, crashes or
 * does not finish, its row says so and the others still run.
 */
export async function comparePeers(bench: Bench): Promise<readonly Row[]> {
  const notInstalled = installPeers()
  const rows: Row[] = contenders(bench).map((contender) => ({
    contender,
    drains: [],
    latencies: [],
    reason: contender.isBelay ? undefined : notInstalled,
  }))
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const row of rows) {
      if (row.reason === undefined) await playRound(row, bench, round)
    }
  }
  return rows
}

async function playRound(row: Row, bench: Bench, round: number): Promise<void> {
  const { quick } = bench
  const url = bench.server.url
  await bench.reference()
  const reference = bench.references.at(-1)!
  const drained = await play(
    row.contender,
    { url, quick },
    { drainRuns: row.contender.drainRuns, latencyRuns: 0 },
  )
  const single = await play(row.contender, { url, quick }, { drainRuns: 0, latencyRuns: quick ? 20 : 200 })
  if ('measured' in drained) row.drains.push({ ...drained.measured, round, reference })
  if ('measured' in single) row.latencies.push(...single.measured.latenciesMs)
  if ('reason' in drained) row.reason = drained.reason
  else if ('reason' in single) row.reason = `idle latency: ${single.reason}`
  const outcome = 'measured' in drained ? figures(drained.measured) : drained.reason
  bench.progress(`round ${round}: ${row.contender.name}: ${outcome}`)
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

function figures(measured: Measured): string {
  return `${whole(measured.stepsPerSecond)} steps/s, ${whole(measured.startedPerSecond)} started/s`
}
