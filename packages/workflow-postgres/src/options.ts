import { BelayError } from '@belay/workflow/adapter'

/** A check of one option: a sentence that says what is accepted, or null when the value is. */
export type OptionCheck = (value: unknown) => string | null

export const isBoolean: OptionCheck = (value) => (typeof value === 'boolean' ? null : 'Give true or false.')

export function isIntegerBetween(low: number, high: number): OptionCheck {
  return (value) =>
    Number.isInteger(value) && (value as number) >= low && (value as number) <= high
      ? null
      : `Give a whole number from ${low} to ${high}.`
}

/** Checks options when they are given: their names, with the nearest that exists, and their values. Throws `invalid_option`. */
export function checkOptions(
  of: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new BelayError('invalid_option', `The options of ${of} are ${describe(options)}. Give an object.`)
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) throw unknownOption(of, name, Object.keys(checks))
    const complaint = value === undefined ? null : check(value)
    if (complaint !== null) {
      throw new BelayError(
        'invalid_option',
        `The option "${name}" of ${of} is ${describe(value)}. ${complaint}`,
      )
    }
  }
}

function unknownOption(of: string, name: string, known: readonly string[]): BelayError {
  const nearest = known
    .map((candidate) => ({
      candidate,
      distance: distanceBetween(name.toLowerCase(), candidate.toLowerCase()),
    }))
    .sort((one, other) => one.distance - other.distance)[0]
  const hint =
    nearest !== undefined && nearest.distance <= 3
      ? `Did you mean "${nearest.candidate}"?`
      : `It has: ${known.join(', ')}.`
  return new BelayError('invalid_option', `${of} has no option "${name}". ${hint}`)
}

/** Levenshtein's distance. */
function distanceBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const change = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}

function describe(value: unknown): string {
  return typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value))
}
