import type { Bench } from '../bench.ts'
import type { NewFigure } from '../report/ledger.ts'

/** One part of the benchmark. */
export interface Section {
  readonly name: string
  /** What it measures, in one line, for --help. */
  readonly about: string
  measure(bench: Bench, record: Recorder): Promise<void>
}

/** Takes a section's results. */
export interface Recorder {
  add(name: string, figure: NewFigure): void
  note(sentence: string): void
  /** Does one part. If it throws, reports that and goes on with the next parts. Resolves to whether it succeeded. */
  attempt(what: string, part: () => Promise<unknown>): Promise<boolean>
  /** Adds Markdown below the table, unchanged. */
  append(markdown: string): void
  bar(bar: {
    readonly group: string
    readonly label: string
    readonly ratio: number
    readonly isBelay: boolean
  }): void
}

/** Calls back for every round, counting from one. */
export async function eachRound(bench: Bench, measure: (round: number) => Promise<void>): Promise<void> {
  for (let round = 1; round <= bench.rounds; round += 1) await measure(round)
}
