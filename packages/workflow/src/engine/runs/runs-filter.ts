import { RUN_STATUSES, type RunConditions, type RunStatus } from '../../adapter/index.ts'
import { VERSION_MAX } from '../../definition/compile.ts'
import { limitName } from '../../definition/limit.ts'
import { BelayError } from '../../errors.ts'
import { type Instant, instantMs } from '../../instant.ts'
import {
  checkFilter,
  id,
  type Kind,
  key,
  name,
  type OptionTable,
  oneOrList,
  oneOrSomeOf,
  Refusal,
  readAs,
  readOptions,
  type SettingsOf,
  wholeNumber,
} from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { ANY_LIMIT_KEY } from '../base/limit-key.ts'
import { someTags } from '../base/tags.ts'

/** A filter: selects runs that match all given conditions. */
export interface RunsMatching {
  /** A workflow's name, or several: runs of any of them. */
  readonly workflow?: string | readonly string[]
  /** The version of their workflow. */
  readonly version?: number
  /** How their ids begin: 1 to 32 hex digits, with or without dashes. Ids begin with the time of their start: 8 digits span 65.536 seconds. */
  readonly idPrefix?: string
  /** A status, or several: runs with any of them. */
  readonly status?: RunStatus | readonly RunStatus[]
  readonly key?: string
  /** How their keys begin. */
  readonly keyPrefix?: string
  /** Runs that were started with all of these tags. */
  readonly tags?: readonly string[]
  /** Started for the run with this id: its children. */
  readonly parentId?: string
  /** Runs of which a step waits for a slot of this limit, or for its turn under this rate: with this key, or with any. `''` is the key of a limit without keys. */
  readonly waitingFor?: { readonly limit: string; readonly key?: string | undefined }
  /** Created at this instant or later, on the store's clock; a number is epoch milliseconds. */
  readonly createdAfter?: Instant | number
  /** Created earlier than this instant. */
  readonly createdBefore?: Instant | number
  /** Ended at this instant or later; excludes runs that have not ended. */
  readonly finishedAfter?: Instant | number
  /** Ended earlier than this instant. */
  readonly finishedBefore?: Instant | number
}

/** The conditions for ended runs, besides their age. */
export const NARROWING = {
  workflow: { sets: 'the workflows of the runs', takes: oneOrList(name, 1_000), narrows: true },
  tags: { sets: 'which tags the runs were started with', takes: someTags, narrows: true },
} satisfies OptionTable

// Smaller numbers are probably seconds, which would mean the early 1970s; a Date cannot hold larger ones.
const EPOCH_MS_LEAST = 100_000_000_000
const EPOCH_MS_MOST = 8_640_000_000_000_000

/** An instant, or epoch milliseconds. */
const TIME: Kind<number> = {
  words: `an instant from year 1 to 9999: a Date, a string with an offset like '2026-03-01T09:00:00Z', or epoch milliseconds since 1973`,
  read(given) {
    if (typeof given !== 'number') return instantMs(given as Instant, 'instant')
    return given >= EPOCH_MS_LEAST && given <= EPOCH_MS_MOST ? given : new Refusal(shown(given))
  },
}

const LIMIT_LINE_NAMES = ['limit', 'key']

/** A limit, or one of its keys. */
const LIMIT_LINE: Kind<{ readonly limit: string; readonly key?: string | undefined }> = {
  words: `the name of a limit and perhaps a key of up to 256 characters, like { limit: 'partner', key: 'acme' }`,
  read(given) {
    const line = readOptions(given)
    if (line === undefined) return new Refusal(shown(given))
    const other = Object.keys(line).find((option) => !LIMIT_LINE_NAMES.includes(option))
    if (other !== undefined) return new Refusal(`an object with ${shown(other)}`)
    const limit = readAs(limitName, line['limit'])
    if (Refusal.is(limit)) return new Refusal(`an object whose limit is ${limit.got}`)
    if (line['key'] === undefined) return { limit }
    const key = readAs(ANY_LIMIT_KEY, line['key'])
    return Refusal.is(key) ? new Refusal(`an object whose key is ${key.got}`) : { limit, key }
  },
}

const ID_PREFIX: Kind<string> = {
  words: `the first 1 to 32 hex digits of an id, like '01890a5d-ac96'`,
  read(given) {
    const digits = typeof given === 'string' ? given.replaceAll('-', '').toLowerCase() : ''
    return /^[0-9a-f]{1,32}$/.test(digits) ? digits : new Refusal(shown(given))
  },
}

const CONDITIONS = {
  ...NARROWING,
  version: { sets: 'the version of the runs', takes: wholeNumber(1, VERSION_MAX), narrows: true },
  idPrefix: { sets: 'how the ids of the runs begin', takes: ID_PREFIX, narrows: true },
  status: {
    sets: 'the statuses of the runs',
    takes: oneOrSomeOf(RUN_STATUSES),
    narrows: true,
  },
  key: { sets: 'the key of the run', takes: key, narrows: true },
  keyPrefix: { sets: 'how the keys of the runs begin', takes: key, narrows: true },
  parentId: { sets: 'the run that the runs were started for', takes: id('run'), narrows: true },
  waitingFor: { sets: 'the limit that steps of the runs wait for', takes: LIMIT_LINE, narrows: true },
  createdAfter: { sets: 'the earliest creation time of the runs', takes: TIME, narrows: true },
  createdBefore: { sets: 'the instant before which the runs were created', takes: TIME, narrows: true },
  finishedAfter: { sets: 'the earliest end of the runs', takes: TIME, narrows: true },
  finishedBefore: { sets: 'the instant before which the runs ended', takes: TIME, narrows: true },
} satisfies OptionTable

const RANGES = [
  ['createdAfter', 'createdBefore'],
  ['finishedAfter', 'finishedBefore'],
] as const

/** The names of all conditions. */
export const CONDITION_NAMES = Object.keys(CONDITIONS)

/**
 * Checks a filter. An invalid condition throws: ignoring it would select more runs, perhaps all. `others` are the call's further options.
 *
 * @throws BelayError `invalid_option`.
 */
export function checkConditions<const Others extends OptionTable>(
  call: string,
  filter: unknown,
  others: Others,
): RunConditions & SettingsOf<Others> {
  const checked = checkFilter(call, filter, { ...CONDITIONS, ...others })
  const conditions: SettingsOf<typeof CONDITIONS> = checked
  for (const [after, before] of RANGES) {
    const [from, to] = [conditions[after], conditions[before]]
    if (from === undefined || to === undefined || from < to) continue
    throw new BelayError(
      'invalid_option',
      `${call}: ${after} must be earlier than ${before}; as given, no run can match.`,
    )
  }
  return checked as unknown as RunConditions & SettingsOf<Others>
}
