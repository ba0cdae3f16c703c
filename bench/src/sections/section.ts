import type { Bench } from '../bench.ts'
import type { NewFigure } from '../report/ledger.ts'

/** One part of the benchmark. */
export interface Section {
  readonly name: string
  /** For --help: what it measures, in one line. */
  readonly about: string
  measure(bench: Bench, record: Recorder): Promise<void>
}

/** What a section measured goes here. */
export interface Recorder {
  add(name: string, figure: NewFigure): void
  note(sentence: string): void
  /** Does a part; when it throws, that is reported, and the parts after it go on. Answers whether it was done. */
  attempt(what: string, part: () => Promise<unknown>): Promise<boolean>
  /** Something to show as it is, below the table. */
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
