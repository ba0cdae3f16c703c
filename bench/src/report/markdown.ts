import type { Bench } from '../bench.ts'
import type { Machine } from '../machine.ts'
import { digits, median, range } from './figures.ts'
import type { Figure, Ledger } from './ledger.ts'

/** The whole report as Markdown. */
export function renderReport(
  ledger: Ledger,
  given: { bench: Bench; machine: Machine; chart?: string },
): string {
  const { bench, machine, chart } = given
  const parts = [
    '# Benchmark of Belay',
    [
      `- machine: ${machine.machine}`,
      `- versions: ${machine.versions}`,
      `- settings of PostgreSQL: ${machine.settings}`,
      `- date: ${machine.date}`,
      `- rounds: ${bench.rounds}${bench.quick ? ' (--quick: it shows that the benchmark works, not how fast Belay is)' : ''}`,
    ].join('\n'),
    ...(chart === undefined ? [] : [`![Steps per second as multiples of the reference](${chart})`]),
    ...(ledger.figures.length === 0 ? [] : [figureTable(ledger, bench)]),
    ...ledger.appendices.map((appendix) => appendix.trim()),
    ...(ledger.notes.length === 0 ? [] : [ledger.notes.map((note) => `- ${note}`).join('\n')]),
    ...(ledger.failures.length === 0
      ? []
      : [`Could not be measured:\n\n${ledger.failures.map((failure) => `- ${failure}`).join('\n')}`]),
  ]
  return `${parts.join('\n\n')}\n`
}

function figureTable(ledger: Ledger, { references }: Bench): string {
  const rows = ledger.figures.map((figure) => row(figure))
  const by = references[0]?.by
  const updates = references.map((reference) => reference.updatesPerSecond)
  const reference =
    updates.length === 0
      ? []
      : [
          `| | reference: single-row updates (${by}, 4 clients), ${updates.length} times | ${digits(median(updates))} updates/s | ${range(updates)} | |`,
        ]
  return [
    'Medians of the rounds, unless a row says otherwise; the reference is measured right before each figure that is compared with it.',
    '',
    '| section | measured | median | min to max | × reference: median (min to max) |',
    '|---|---|---|---|---|',
    ...reference,
    ...rows,
  ].join('\n')
}

function row({ section, name, unit, values, ratios }: Figure): string {
  const ratio = ratios.length === 0 ? '' : `${digits(median(ratios))} (${range(ratios)})`
  return `| ${section} | ${name} | ${digits(median(values))} ${unit} | ${range(values)} | ${ratio} |`
}
