import { BelayError } from './errors.ts'
import { nameOf, shown } from './shown.ts'

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** A length of time: milliseconds as a number, or a number with a unit, like `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'7d'`, `'1w'`. */
export type Duration = true extends true
  ? DurationWritten<'as milliseconds, or as a number and a unit: 250ms, 30s, 5m, 2h, 7d or 1w'>
  : never

/** The compiler prints this for a wrong duration, so it must read as a sentence. */
export type DurationWritten<Form extends string> =
  | number
  | (Form extends string ? `${number}${keyof typeof UNIT_MS}` : never)

/** The longest duration that an option may have. */
export const DURATION_MAX: Duration = '3650d'

/**
 * Reads a duration as milliseconds. `option` names the option in the error.
 *
 * @throws BelayError `invalid_option` when the value is not a finite, non-negative duration.
 */
export function durationMs(duration: Duration, option: string): number {
  const ms = typeof duration === 'number' ? duration : parse(duration)
  if (Number.isFinite(ms) && ms >= 0) return ms
  throw new BelayError(
    'invalid_option',
    `${nameOf(option, 'The duration')} is ${shown(duration)}, which is not a duration. Give milliseconds as a number of 0 or more, or a string like '250ms', '30s', '5m', '2h' or '7d'.`,
  )
}

/** A length of time as an option takes it, in the largest unit that says it exactly: `20d`, `90s`, `1500ms`. */
export function durationText(ms: number): string {
  const [unit, size] = SHOWN_UNITS.find(([, size]) => ms !== 0 && ms % size === 0) ?? SMALLEST
  return `${ms / size}${unit}`
}

const SMALLEST = ['ms', UNIT_MS.ms] as const
const SHOWN_UNITS = [
  ['d', UNIT_MS.d],
  ['h', UNIT_MS.h],
  ['m', UNIT_MS.m],
  ['s', UNIT_MS.s],
  SMALLEST,
] as const

function parse(text: unknown): number {
  const match = typeof text === 'string' ? /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(text.trim()) : null
  if (match === null) return Number.NaN
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}
