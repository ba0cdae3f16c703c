import type { RateSpan } from '../adapter/limits.ts'
import { definitionError, type Place } from '../graph/place.ts'
import { isArray } from '../is-array.ts'
import { duration, readOptions, string } from '../options/index.ts'
import { checkOptionNames, oneOf, readOption, shown, wholeNumber } from './option-check.ts'

/** A limit that an attempt enters before its handler is called. */
export interface LimitPolicy {
  /** The same name is the same limit, in all workflows. */
  readonly name: string
  /** How many slots each key has, as far as code is concerned; of a rate, how many attempts of each key begin in its time. */
  readonly concurrency: number
  /** Null for a limit of how many are under way at once. */
  readonly rate: RateSpan | null
  /** Whether the attempt takes the slot, or its run. */
  readonly of: 'step' | 'run'
  /**
   * What happens if there is no slot: the step waits, or is skipped, or of a run: is cancelled, or waits while older runs are cancelled, or is not
   * started.
   */
  readonly atLimit: 'wait' | 'skip' | 'cancel-older' | 'refuse'
  /** `undefined` if it has none, null in a process that only starts runs. */
  readonly keyOf: LimitKey | null | undefined
}

/** Returns the key, or a promise of it. */
export type LimitKey = (context: never) => unknown

/** The most slots that code may give to each key of a limit. */
const CONCURRENCY_MAX = 100_000
/** The most characters in the name of a limit: enough for those that are made of the names of a workflow and a step. */
const NAME_LENGTH_MAX = 262
/** The most limits of one step or workflow. */
const LIMITS_MAX = 10

/** The name of a limit. */
export const limitName = string(1, NAME_LENGTH_MAX)

/** The time of a rate. */
export const ratePeriod = duration('100ms', '31d')

/** Finds the function that `key` names or is. */
export type KeyLookup = (option: string, given: unknown) => LimitKey | null

/** What an option of limits takes: who enters them, and how their keys are found. */
interface LimitPlace {
  readonly of: LimitPolicy['of']
  readonly keyOf?: KeyLookup | undefined
}

/** Reads the options `concurrency` and `rateLimit`: each is one limit, or an array of them. */
export function limitPolicies(
  place: Place,
  { concurrency, rateLimit }: { readonly concurrency?: unknown; readonly rateLimit?: unknown },
  { of, keyOf = functionIn(place) }: LimitPlace,
): readonly LimitPolicy[] {
  if (concurrency === undefined && rateLimit === undefined) return NONE
  const limits = [
    ...each(place, 'concurrency', concurrency, (option, one) =>
      concurrencyLimit(place, option, one, { of, keyOf }),
    ),
    ...each(place, 'rateLimit', rateLimit, (option, one) => rateLimitOf(place, option, one, { of, keyOf })),
  ]
  checkDistinct(place, limits)
  return Object.freeze(limits)
}

const NONE: readonly LimitPolicy[] = Object.freeze([])

function each(
  place: Place,
  name: string,
  given: unknown,
  read: (option: string, one: unknown) => LimitPolicy,
): readonly LimitPolicy[] {
  if (given === undefined) return NONE
  if (!isArray(given)) return [read(name, given)]
  const list: readonly unknown[] = Array.from(given)
  if (list.length === 0 || list.length > LIMITS_MAX) {
    throw definitionError(place, `${name} has ${list.length} limits, and must have 1 to ${LIMITS_MAX}.`)
  }
  return list.map((one, index) => read(`${name}[${index}]`, one))
}

function concurrencyLimit(
  place: Place,
  option: string,
  given: unknown,
  { of, keyOf }: { readonly of: LimitPolicy['of']; readonly keyOf: KeyLookup },
): LimitPolicy {
  checkOptionNames(place, option, given, ['limit', 'key', 'name', 'atLimit'])
  const { limit, key, name, atLimit } = given
  return Object.freeze({
    name: name === undefined ? ownName(place) : readOption(place, `${option}.name`, name, limitName),
    concurrency: wholeNumber(place, `${option}.limit`, limit, { min: 1, max: CONCURRENCY_MAX }),
    rate: null,
    of,
    atLimit: atLimit === undefined ? 'wait' : atLimitOf(place, `${option}.atLimit`, atLimit, of),
    keyOf: key === undefined ? undefined : keyOf(`${option}.key`, key),
  })
}

/** Only runs are newer and older than each other, and are started by calls that can be refused. */
function atLimitOf(
  place: Place,
  option: string,
  given: unknown,
  of: LimitPolicy['of'],
): LimitPolicy['atLimit'] {
  if (of === 'run') return oneOf(place, option, given, ['wait', 'skip', 'cancel-older', 'refuse'])
  if (given !== 'cancel-older' && given !== 'refuse') return oneOf(place, option, given, ['wait', 'skip'])
  throw definitionError(
    place,
    `${option} is '${given}', which is for runs: give it to the concurrency of the workflow, or let the step wait or be skipped.`,
  )
}

function rateLimitOf(
  place: Place,
  option: string,
  given: unknown,
  { of, keyOf }: { readonly of: LimitPolicy['of']; readonly keyOf: KeyLookup },
): LimitPolicy {
  refuseAtLimit(place, option, given)
  checkOptionNames(place, option, given, ['limit', 'per', 'burst', 'key', 'name'])
  const { limit, per, burst, key, name } = given
  const count = (member: string, value: unknown) =>
    wholeNumber(place, `${option}.${member}`, value, { min: 1, max: CONCURRENCY_MAX })
  const concurrency = count('limit', limit)
  const perMs = readOption(place, `${option}.per`, per, ratePeriod)
  return Object.freeze({
    // Apart from that of a concurrency limit, which the same step may have.
    name:
      name === undefined ? `${ownName(place)}:rate` : readOption(place, `${option}.name`, name, limitName),
    concurrency,
    rate: Object.freeze({
      perMs,
      burst: burst === undefined ? usualBurst(concurrency, perMs) : count('burst', burst),
    }),
    of,
    atLimit: 'wait',
    keyOf: key === undefined ? undefined : keyOf(`${option}.key`, key),
  })
}

/** Whoever comes too early for a rate has its turn soon. */
function refuseAtLimit(place: Place, option: string, given: unknown): void {
  const atLimit = readOptions(given)?.['atLimit']
  if (atLimit === undefined) return
  throw definitionError(
    place,
    `${option}.atLimit is ${shown(atLimit)}, and a rate can only wait: remove atLimit, or give it to a limit of concurrency.`,
  )
}

/**
 * The burst of a rate that states none: what begins in 10 ms, and at least one. Instants that are nearer than workers look would otherwise be taken one
 * at a time, so that high rates could never be reached.
 */
export function usualBurst(limit: number, perMs: number): number {
  return Math.max(1, Math.floor((limit * USUAL_BURST_MS) / perMs))
}

const USUAL_BURST_MS = 10

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
function checkDistinct(place: Place, limits: readonly LimitPolicy[]): void {
  const names = limits.map(({ name }) => name)
  const double = names.find((name, index) => names.indexOf(name) !== index)
  if (double === undefined) return
  throw definitionError(
    place,
    `two of its limits have the name "${double}", those of its workflow included. Give one of them another name, or remove it.`,
  )
}

/** The limits at which a start of the workflow is refused. */
export function refusingLimits({
  steps,
}: {
  readonly steps: readonly { readonly limits: readonly LimitPolicy[] | null }[]
}): readonly LimitPolicy[] {
  // Those of the workflow are the limits of each of its steps.
  return (steps[0]?.limits ?? NONE).filter(({ atLimit }) => atLimit === 'refuse')
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
