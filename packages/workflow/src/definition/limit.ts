import { definitionError, type Place } from '../graph/place.ts'
import { string } from '../options/index.ts'
import { checkOptionNames, readOption, shown, wholeNumber } from './option-check.ts'

/** A limit that an attempt enters before its handler is called. */
export interface LimitPolicy {
  /** The same name is the same limit, in all workflows. */
  readonly name: string
  /** How many slots each key has, as far as code is concerned. */
  readonly concurrency: number
  /** Whether the attempt takes the slot, or its run. */
  readonly of: 'step' | 'run'
  /** `undefined` if it has none, null in a process that only starts runs. */
  readonly keyOf: LimitKey | null | undefined
}

/** Returns the key, or a promise of it. */
export type LimitKey = (context: never) => unknown

/** The most slots that code may give to each key of a limit. */
export const CONCURRENCY_MAX = 100_000
/** The most characters in the name of a limit: enough for those that are made of the names of a workflow and a step. */
const NAME_LENGTH_MAX = 257
/** The most limits of one step or workflow. */
const LIMITS_MAX = 10

/** The name of a limit. */
export const limitName = string(1, NAME_LENGTH_MAX)

/** Finds the function that `key` names or is. */
export type KeyLookup = (option: string, given: unknown) => LimitKey | null

/** Reads the option `concurrency`: one limit, or an array of them. */
export function concurrencyLimits(
  place: Place,
  given: unknown,
  { of, keyOf }: { readonly of: LimitPolicy['of']; readonly keyOf?: KeyLookup | undefined },
): readonly LimitPolicy[] {
  if (given === undefined) return NONE
  const list = isArray(given) ? Array.from(given) : [given]
  if (list.length === 0 || list.length > LIMITS_MAX) {
    throw definitionError(place, `concurrency has ${list.length} limits, and must have 1 to ${LIMITS_MAX}.`)
  }
  const limits = list.map((one, index) => {
    const option = isArray(given) ? `concurrency[${index}]` : 'concurrency'
    return concurrencyLimit(place, option, one, { of, keyOf: keyOf ?? functionIn(place) })
  })
  checkDistinct(place, limits)
  return Object.freeze(limits)
}

const NONE: readonly LimitPolicy[] = Object.freeze([])

function concurrencyLimit(
  place: Place,
  option: string,
  given: unknown,
  { of, keyOf }: { readonly of: LimitPolicy['of']; readonly keyOf: KeyLookup },
): LimitPolicy {
  checkOptionNames(place, option, given, ['limit', 'key', 'name'])
  const { limit, key, name } = given
  return Object.freeze({
    name: name === undefined ? ownName(place) : readOption(place, `${option}.name`, name, limitName),
    concurrency: wholeNumber(place, `${option}.limit`, limit, { min: 1, max: CONCURRENCY_MAX }),
    of,
    keyOf: key === undefined ? undefined : keyOf(`${option}.key`, key),
  })
}

/** A limit without a name belongs to its step, or to its workflow. */
function ownName({ workflow, step }: Place): string {
  return step === undefined ? workflow : `${workflow}.${step}`
}

function functionIn(place: Place): KeyLookup {
  return (option, given) => {
    if (typeof given === 'function') return given as LimitKey
    throw definitionError(
      place,
      `${option} is ${shown(given)}, and must be a function that returns a text, like ({ input }) => input.customerId.`,
    )
  }
}

/** Two limits of one name would be one limit, of which an attempt takes two slots: it could wait for itself. */
export function checkDistinct(place: Place, limits: readonly LimitPolicy[]): void {
  const names = limits.map(({ name }) => name)
  const double = names.find((name, index) => names.indexOf(name) !== index)
  if (double === undefined) return
  throw definitionError(
    place,
    `two of its limits have the name "${double}", those of its workflow included. Give one of them another name, or remove it.`,
  )
}

/** Array.isArray() that never throws: it throws for a revoked Proxy. */
function isArray(given: unknown): given is readonly unknown[] {
  try {
    return Array.isArray(given)
  } catch {
    return false
  }
}

/** The limits of a step with those of its workflow; null for none. */
export function limitsOf(
  place: Place,
  ofRun: readonly LimitPolicy[],
  own: readonly LimitPolicy[] | null,
): readonly LimitPolicy[] | null {
  if (own === null || own.length === 0) return ofRun.length === 0 ? null : ofRun
  const limits = Object.freeze([...ofRun, ...own])
  checkDistinct(place, limits)
  return limits
}
