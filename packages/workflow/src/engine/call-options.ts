import { type Duration, durationMs } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { didYouMean } from '../graph/index.ts'

/** Throws `invalid_option` unless `options` is an object that has no other names than these. `call` names who was called. */
export function checkNames(call: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidOption(call, 'the options', options, `an object with ${known.join(', ')}`)
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    throw new BelayError(
      'invalid_option',
      `${call} has no option "${name}".${didYouMean(name, known)} It takes ${known.join(', ')}.`,
    )
  }
}

export function wholeNumber(call: string, name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw invalidOption(call, name, value, `a whole number from ${least} to ${most}`)
}

export function durationBetween(
  call: string,
  name: string,
  value: Duration,
  leastMs: number,
  mostMs: number,
): number {
  const ms = durationMs(value, `${call}: ${name}`)
  if (ms >= leastMs && ms <= mostMs) return ms
  throw invalidOption(call, name, value, `a duration from ${leastMs} ms to ${mostMs} ms`)
}

export function invalidOption(call: string, name: string, value: unknown, accepted: string): BelayError {
  const shown =
    typeof value === 'object' || typeof value === 'function'
      ? describe(value)
      : (JSON.stringify(value) ?? 'nothing')
  return new BelayError('invalid_option', `${call}: ${name} must be ${accepted}; got ${shown}.`)
}

function describe(value: object | null): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
