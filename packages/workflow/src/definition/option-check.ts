import { definitionError, type Place } from '../graph/place.ts'
import * as kinds from '../options/index.ts'
import { type Kind, Refusal, readAs, readOptions, unknownName } from '../options/index.ts'
import { shown } from '../shown.ts'

export { shown } from '../shown.ts'

/** Throws unless `given` is a plain object with allowed option names only. `what` names the object in the error. */
export function checkOptionNames(
  place: Place,
  what: string,
  given: unknown,
  allowed: readonly string[],
): asserts given is Readonly<Record<string, unknown>> {
  const options = readOptions(given)
  if (options === undefined) {
    throw definitionError(
      place,
      `${what} is ${shown(given)}, and must be an object with ${allowed.join(', ')}.`,
    )
  }
  const complaint = unknownName(options, allowed)
  if (complaint !== undefined) throw definitionError(place, `${what} ${complaint}`)
}

/** A whole number within a range. */
export function wholeNumber(
  place: Place,
  option: string,
  given: unknown,
  range: { readonly min: number; readonly max: number },
): number {
  return readOption(place, option, given, kinds.wholeNumber(range.min, range.max))
}

/** One of a few strings. */
export function oneOf<const Choice extends string>(
  place: Place,
  option: string,
  given: unknown,
  choices: readonly Choice[],
): Choice {
  return readOption(place, option, given, kinds.oneOf(choices))
}

export function yesOrNo(place: Place, option: string, given: unknown): boolean {
  return readOption(place, option, given, kinds.yesOrNo)
}

/** Reads a duration of at most {@link DURATION_MAX} as milliseconds. */
export function optionMs(place: Place, option: string, given: unknown): number {
  return readOption(place, option, given, kinds.duration())
}

/** The same, but greater than 0. `remedy` ends the error. */
export function positiveMs(place: Place, option: string, given: unknown, remedy = ''): number {
  return readOption(place, option, given, POSITIVE, remedy)
}

const POSITIVE = kinds.duration(0, undefined, { more: true })

/** Reads one option. The error names the workflow and the step. */
export function readOption<Value>(
  place: Place,
  option: string,
  given: unknown,
  kind: Kind<Value>,
  remedy = '',
): Value {
  const value = readAs(kind, given)
  if (!Refusal.is(value)) return value
  throw definitionError(place, `${option} is ${value.got}, and must be ${kind.words}.${value.hint}${remedy}`)
}
