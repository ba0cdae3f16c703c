import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { Machine } from '../machine.ts'
import { renderChart } from './chart.ts'
import type { Ledger } from './ledger.ts'
import { renderReport } from './markdown.ts'

const CHART = 'chart.svg'

/** Writes `results.md`, and `chart.svg` if there is a bar to draw. */
export async function writeReport(
  directory: string,
  ledger: Ledger,
  given: { bench: Bench; machine: Machine },
): Promise<void> {
  await mkdir(directory, { recursive: true })
  const hasChart = ledger.bars.length > 0
  if (hasChart) await writeFile(join(directory, CHART), renderChart(ledger.bars, captionOf(given)))
  const report = renderReport(ledger, { ...given, ...(hasChart ? { chart: CHART } : {}) })
  await writeFile(join(directory, 'results.md'), report)
}

function captionOf({ bench, machine }: { bench: Bench; machine: Machine }): readonly string[] {
  const by = bench.references[0]?.by ?? 'pgbench'
  return [
    `Steps per second as multiples of single-row updates per second (${by}, 4 clients) taken right before; longer is faster.`,
    `${machine.machine}; ${machine.versions}; ${machine.date}. Medians of ${bench.rounds}; the line is their range.`,
  ]
}
