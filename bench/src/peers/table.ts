import type { Reference } from '../reference.ts'
import { median, quantile, spread, whole } from '../report/figures.ts'
import type { Measured } from './contender.ts'
import type { Contender } from './contenders.ts'

export interface Row {
  readonly contender: Contender
  readonly drains: Drain[]
  readonly latencies: number[]
  /** Why it was not measured, or not completely. */
  reason: string | undefined
}

export type Drain = Measured & { readonly round: number; readonly reference: Reference }

/** A Markdown table of all rows, with each row's settings below it. */
export function table(rows: readonly Row[], given: { rounds: number }): string {
  const belay = rows.find((row) => row.contender.isBelay)?.drains ?? []
  const references = rows.flatMap((row) => row.drains.map((drain) => drain.reference))
  const reference = references[0]
  if (reference === undefined) return `Nothing could be measured: ${rows[0]?.reason ?? 'no rows'}`
  return `
No-op handlers, one worker process, every system in a fresh database on the same server, by turns; a step counts once its run is completed in
the database. Steps/s: the runs wait when the worker starts. Medians (min to max) of ${given.rounds} ${given.rounds === 1 ? 'round' : 'rounds'}. The reference before each: ${spread(references.map((r) => r.updatesPerSecond))}
single-row updates/s by ${reference.by}, 4 clients.

| system | runs | steps/s | × reference | Belay against it | runs started/s | idle latency of one run, ms: p50 / p95 / p99 (sample) |
|---|---|---|---|---|---|---|
${rows.map((row) => line(row, belay)).join('\n')}

${rows.flatMap((row) => settingsOf(row)).join('\n')}`
}

function line(row: Row, belay: readonly Drain[]): string {
  const { name, version } = row.contender
  const system = row.contender.isBelay ? name : `${name} ${version}`
  if (row.drains.length === 0) return `| ${system} | | ${row.reason} | | | | ${milliseconds(row.latencies)} |`
  const cells = [
    row.reason === undefined ? system : `${system} (${row.reason})`,
    whole(row.contender.drainRuns),
    spread(row.drains.map((drain) => drain.stepsPerSecond)),
    ratios(row.drains.map((drain) => drain.stepsPerSecond / drain.reference.updatesPerSecond)),
    row.contender.isBelay ? '' : ratios(againstBelay(row.drains, belay)),
    spread(row.drains.map((drain) => drain.startedPerSecond)),
    milliseconds(row.latencies),
  ]
  return `| ${cells.join(' | ')} |`
}

/** Round by round, because the machine's speed changes between rounds. */
function againstBelay(drains: readonly Drain[], belay: readonly Drain[]): number[] {
  return drains.flatMap((drain) => {
    const ours = belay.find(({ round }) => round === drain.round)
    return ours === undefined ? [] : [ours.stepsPerSecond / drain.stepsPerSecond]
  })
}

function ratios(sample: readonly number[]): string {
  if (sample.length === 0) return ''
  return `${median(sample).toFixed(2)} (${Math.min(...sample).toFixed(2)} to ${Math.max(...sample).toFixed(2)})`
}

function milliseconds(sample: readonly number[]): string {
  if (sample.length === 0) return ''
  const quantiles = [0.5, 0.95, 0.99].map((share) => quantile(sample, share).toFixed(1))
  return `${quantiles.join(' / ')} (${sample.length})`
}

function settingsOf(row: Row): string[] {
  const measured = row.drains[0]
  if (measured === undefined) return []
  const run = measured.stepsPerRun === 1 ? 'a run is a single job' : 'a run is a chain of 3 durable steps'
  return [`- ${row.contender.name}: ${run}; ${measured.settings}.`]
}
