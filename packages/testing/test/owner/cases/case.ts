import type { Bench } from '../bench.ts'

/** What owners over a store must do, by the sentence that says it. */
export type OwnerCases = Readonly<Record<string, (given: Bench) => Promise<void>>>

/** So many times. */
export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))
