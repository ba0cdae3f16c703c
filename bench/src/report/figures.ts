/** The value below which a share (0 to 1) of the sample lies, by nearest rank. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = [...sample].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export function median(sample: readonly number[]): number {
  return quantile(sample, 0.5)
}

/** `12,345 (11,800 to 12,900)`: median and range of the rounds. */
export function spread(sample: readonly number[]): string {
  return `${whole(median(sample))} (${whole(Math.min(...sample))} to ${whole(Math.max(...sample))})`
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** As many digits as are meaningful: `12,345`, `45.6`, `4.56`, `0.0045`. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return 'none'
  const size = Math.abs(value)
  if (size >= 100 || Number.isInteger(value)) return whole(value)
  if (size >= 10) return value.toFixed(1)
  if (size >= 1) return value.toFixed(2)
  return String(Number(value.toPrecision(2)))
}

/** `11,800 to 12,900`. */
export function range(sample: readonly number[]): string {
  return `${digits(Math.min(...sample))} to ${digits(Math.max(...sample))}`
}
