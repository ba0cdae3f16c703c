import { type Duration, durationMs } from '../duration.ts'
import { didYouMean } from '../graph/nearest.ts'
import { definitionError, type Place } from '../graph/place.ts'

/** The longest duration an option of a definition may have. */
export const DURATION_MAX: Duration = '3650d'

/** Refuses what is no plain object of options, and names of options that don't exist. `what` says whose options they are. */
export function checkOptionNames(
  place: Place,
  what: string,
  given: unknown,
  allowed: readonly string[],
): asserts given is Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw definitionError(
      place,
      `${what} is ${shown(given)}, and must be an object with ${allowed.join(', ')}.`,
    )
  }
  for (const option of Object.keys(given)) {
    if (allowed.includes(option)) continue
    throw definitionError(
      place,
      `${what} has no option "${option}".${didYouMean(option, allowed)} Options: ${allowed.join(', ')}.`,
    )
  }
}

/** A whole number within a range. */
export function wholeNumber(
  place: Place,
  option: string,
  given: unknown,
  range: { readonly min: number; readonly max: number },
): number {
  if (typeof given === 'number' && Number.isInteger(given) && given >= range.min && given <= range.max) {
    return given
  }
  throw definitionError(
    place,
    `${option} is ${shown(given)}, and must be a whole number from ${range.min} to ${range.max}.`,
  )
}

/** One of a few texts. */
export function oneOf<const Choice extends string>(
  place: Place,
  option: string,
  given: unknown,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === given)
  if (found !== undefined) return found
  const hint = typeof given === 'string' ? didYouMean(given, choices) : ''
  throw definitionError(
    place,
    `${option} is ${shown(given)}, and must be one of ${choices.map((choice) => `'${choice}'`).join(', ')}.${hint}`,
  )
}

export function yesOrNo(place: Place, option: string, given: unknown): boolean {
  if (typeof given === 'boolean') return given
  throw definitionError(place, `${option} is ${shown(given)}, and must be true or false.`)
}

/** A duration as milliseconds, at most {@link DURATION_MAX}. */
export function optionMs(place: Place, option: string, given: unknown): number {
  const ms = readMs(place, option, given)
  if (ms <= durationMs(DURATION_MAX, 'the longest duration')) return ms
  throw definitionError(place, `${option} is ${shown(given)}, and ${DURATION_MAX} is the most.`)
}

function readMs(place: Place, option: string, given: unknown): number {
  try {
    return durationMs(given as Duration, option)
  } catch (cause) {
    // The same defect, but said with its place.
    throw definitionError(place, (cause as Error).message, { cause })
  }
}

const SHOWN_MAX = 60

/** A value for a message, cut short. */
export function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'string' || (typeof value === 'object' && value !== null)) return shownJson(value)
  return String(value)
}

function shownJson(value: string | object): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? 'an object'
  } catch {
    text = 'an object'
  }
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
