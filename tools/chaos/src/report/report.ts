import type { Violation } from '../oracle/violation.ts'
import type { RecoveryTimes } from '../supervisor/recoveries.ts'

/** The result of a run of the harness. */
export interface Report {
  readonly seed: number
  readonly faultsMs: number
  readonly elapsedMs: number
  readonly leaseMs: number
  readonly tickMs: number
  /** By the fault's name. */
  readonly faults: Readonly<Record<string, number>>
  readonly recoveries: Readonly<Record<string, RecoveryTimes>>
  /** By status. */
  readonly runs: Readonly<Record<string, number>>
  /** How often each feature was met, by its name. */
  readonly features: Readonly<Record<string, number>>
  readonly settled: number
  readonly restMs: number
  readonly discarded: number
  readonly leasesLost: number
  /** The trigger's failed calls, by name and code. It repeats them. */
  readonly failedCalls: Readonly<Record<string, number>>
  /** What the engine reported as unexpected, by its text. */
  readonly errors: Readonly<Record<string, number>>
  readonly exceptions: Readonly<Record<string, number>>
  readonly violations: readonly Violation[]
  readonly timeline: readonly string[]
}

/** The report for people. */
export function renderReport(report: Report, command: string): string {
  const lines = [
    '',
    `${sumOf(report.runs)} runs (${listed(report.runs)}), ${report.settled} settlements, in ${seconds(report.elapsedMs)}; at rest ${seconds(report.restMs)} after the last fault.`,
    '',
    ...faultTable(report),
    '',
    `Recovery: for a killed or frozen process from that moment on, else from the end of the fault, until its steps are held by nobody that lost them and the load goes on.`,
    `A lease is ${report.leaseMs} ms, and a tick ${report.tickMs} ms: together ${report.leaseMs + report.tickMs} ms.`,
    ...section('What the runs did', report.features),
    ...section('Calls that failed and were repeated', report.failedCalls),
    ...section('What the engine reported as unexpected', report.errors),
    ...section('Allowed, and counted', {
      ...report.exceptions,
      'late results discarded': report.discarded,
      'leases lost by living workers': report.leasesLost,
    }),
  ]
  if (report.violations.length === 0) return [...lines, '', `Nothing broke. Seed ${report.seed}.`].join('\n')
  return [
    ...lines,
    '',
    'Timeline:',
    ...report.timeline.map((line) => `  ${line}`),
    '',
    `BROKEN (seed ${report.seed}):`,
    ...report.violations.map(({ kind, sentence }) => `  ${kind}: ${sentence}`),
    '',
    `Again: ${command} --seed ${report.seed}`,
  ].join('\n')
}

function faultTable({ faults, recoveries }: Report): readonly string[] {
  const row = (cells: readonly string[]) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(33) : cell.padStart(10))).join(' ')
  const names = Object.keys(faults).sort()
  return [
    row(['fault', 'count', 'median', 'worst', 'measured']),
    ...names.map((name) => {
      const times = recoveries[name]
      if (times === undefined || times.count === 0) return row([name, `${faults[name]}`, '-', '-', '0'])
      return row([
        name,
        `${faults[name]}`,
        `${Math.round(times.medianMs)} ms`,
        `${Math.round(times.worstMs)} ms`,
        `${times.count}`,
      ])
    }),
    row(['all', `${sumOf(faults)}`]),
  ]
}

function section(title: string, counts: Readonly<Record<string, number>>): readonly string[] {
  const entries = Object.entries(counts).filter(([, count]) => count > 0)
  if (entries.length === 0) return []
  return ['', `${title}:`, ...entries.map(([what, count]) => `  ${String(count).padStart(6)}  ${what}`)]
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
