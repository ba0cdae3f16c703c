import type { RateSpan } from './limits.ts'

/** A rate in words, like `100 per 1 s`. */
export function rateWords(limit: number, { perMs, burst }: RateSpan): string {
  return `${limit} per ${periodWords(perMs)}${burst === 1 ? '' : ` with a burst of ${burst}`}`
}

function periodWords(ms: number): string {
  const [size, unit] = UNITS.find(([of]) => ms % of === 0) ?? [1, 'ms']
  return `${ms / size} ${unit}`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const
