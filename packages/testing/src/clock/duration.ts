import { BelayError, type Duration } from '@belay/workflow'

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** Milliseconds of a duration. The core reads its options with a parser of its own, which it doesn't publish. */
export function virtualMs(duration: Duration): number {
  const ms = typeof duration === 'number' ? duration : parse(duration)
  if (Number.isFinite(ms) && ms >= 0) return ms
  throw new BelayError(
    'invalid_option',
    `A virtual clock cannot advance by ${JSON.stringify(duration)}. Give milliseconds as a number of 0 or more, or a text like '250ms', '30s', '7d'.`,
  )
}

function parse(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text)
  return match === null ? Number.NaN : Number(match[1]) * UNIT_MS[match[2]!]!
}
