import { BATCH_CALLS_MAX, type CollectPolicy } from '../adapter/collected-calls.ts'
import { BelayError } from '../errors.ts'
import { definitionError, type Place } from '../graph/place.ts'
import { key as callKey, duration, Refusal, readAs, string } from '../options/index.ts'
import { watchAnswer } from '../thenable.ts'
import { messageOf } from '../thrown.ts'
import { sentence } from '../words.ts'
import { checkOptionNames, readOption, shown, wholeNumber } from './option-check.ts'

/** The option `start` of a definition, checked. */
export interface StartPolicy {
  readonly collect: CollectPolicy
  /** The key of a call with this input. Throws `invalid_option`. */
  readonly keyOf: (input: unknown) => string
}

const MODES = ['debounce', 'throttle', 'batch'] as const
/** The longest window. Rows and locks of a key live as long. */
const WINDOW = duration(0, '30d', { more: true })
const BATCH_WINDOW = duration(0, '1d', { more: true })
const MEMBER = string(1, 512)
/** The key of a workflow without `key`. */
const ALL = ''

/** Checks the option `start`. Throws DefinitionError. */
export function startPolicy(place: Place, given: unknown): StartPolicy {
  checkOptionNames(place, 'start', given, [...MODES, 'max', 'key'])
  const named = MODES.filter((mode) => given[mode] !== undefined)
  const [mode] = named
  if (mode === undefined || named.length > 1) {
    const got = named.length === 0 ? 'none of them' : named.join(' and ')
    throw definitionError(place, `start has ${got}, and must have one of debounce, throttle and batch.`)
  }
  if (mode !== 'debounce' && given['max'] !== undefined)
    throw definitionError(
      place,
      `start.max is ${shown(given['max'])}, and only debounce has it. The max of a batch is in batch: { max, within }.`,
    )
  return Object.freeze({
    collect: Object.freeze(policyOf(place, mode, given)),
    keyOf: keyOf(place, given['key']),
  })
}

function policyOf(
  place: Place,
  mode: (typeof MODES)[number],
  given: Readonly<Record<string, unknown>>,
): CollectPolicy {
  if (mode === 'batch') {
    checkOptionNames(place, 'start.batch', given['batch'], ['max', 'within'])
    const { max, within } = given['batch']
    return {
      mode,
      windowMs: readOption(place, 'start.batch.within', within, BATCH_WINDOW),
      limitMs: null,
      callsMax: wholeNumber(place, 'start.batch.max', max, { min: 1, max: BATCH_CALLS_MAX }),
    }
  }
  const windowMs = readOption(place, `start.${mode}`, given[mode], WINDOW)
  const limitMs = given['max'] === undefined ? null : readOption(place, 'start.max', given['max'], WINDOW)
  if (limitMs !== null && limitMs < windowMs)
    throw definitionError(
      place,
      `start.max is ${shown(given['max'])}, and must be at least start.debounce, which is ${shown(given['debounce'])}.`,
    )
  return { mode, windowMs, limitMs, callsMax: null }
}

function keyOf({ workflow }: Place, given: unknown): StartPolicy['keyOf'] {
  if (given === undefined) return () => ALL
  if (typeof given === 'function')
    return (input) => checkedKey(workflow, called(workflow, given as (call: object) => unknown, input))
  const path = readAs(MEMBER, given)
  if (!Refusal.is(path))
    return (input) =>
      checkedKey(
        workflow,
        called(workflow, () => memberOf(workflow, input, path), input),
      )
  throw definitionError(
    { workflow },
    `start.key is ${path.got}, and must be a function of { input } that returns a string, or the name of a member of the input.`,
  )
}

function called(workflow: string, key: (call: object) => unknown, input: unknown): unknown {
  try {
    return key({ input })
  } catch (cause) {
    if (BelayError.is(cause)) throw cause
    throw new BelayError(
      'invalid_option',
      `start.key of workflow "${workflow}" threw for an input: ${sentence(messageOf(cause))} Nothing was started.`,
      { cause },
    )
  }
}

/** A member's value, as text if it is a whole number. */
function memberOf(workflow: string, input: unknown, path: string): unknown {
  let value = input
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      throw new BelayError(
        'invalid_option',
        `start.key of workflow "${workflow}" is "${path}", and the input has no such member. Nothing was started. Give the member, or correct start.key.`,
      )
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return Number.isSafeInteger(value) ? String(value) : value
}

function checkedKey(workflow: string, given: unknown): string {
  watchAnswer(given)
  const key = readAs(callKey, given)
  if (!Refusal.is(key)) return key
  throw new BelayError(
    'invalid_option',
    `start.key of workflow "${workflow}" gave ${key.got}, and must give ${callKey.words}. Nothing was started.`,
  )
}
