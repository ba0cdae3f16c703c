import { RUN_TRANSITIONS, type RunConditions, type RunStatus } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
import { didYouMean } from '../graph/index.ts'
import { type Instant, instantMs } from '../instant.ts'
import { invalidOption } from './call-options.ts'
import { checkKey } from './key.ts'
import { checkTags } from './tags.ts'

/** Which runs are meant: those that fit every condition that is given. */
export interface RunsMatching {
  /** A workflow's name, or several: runs of any of them. */
  readonly workflow?: string | readonly string[]
  /** A status, or several: runs with any of them. */
  readonly status?: RunStatus | readonly RunStatus[]
  readonly key?: string
  /** Runs that were started with all of these tags. */
  readonly tags?: readonly string[]
  /** Created at this instant or later, on the store's clock; a number is epoch milliseconds. */
  readonly createdAfter?: Instant | number
  /** Created earlier than this instant. */
  readonly createdBefore?: Instant | number
  /** Ended at this instant or later; runs that have not ended don't fit. */
  readonly finishedAfter?: Instant | number
  /** Ended earlier than this instant. */
  readonly finishedBefore?: Instant | number
}

const RANGES = [
  ['createdAfter', 'createdBefore'],
  ['finishedAfter', 'finishedBefore'],
] as const

const NAMES = ['workflow', 'status', 'key', 'tags', ...RANGES.flat()] as const

/**
 * Checks a filter. Whatever is wrong with it is refused rather than left out: without one of its conditions it would fit more runs, perhaps
 * all of them. `others` are names that the call takes beside these.
 *
 * @throws BelayError `invalid_option`.
 */
export function checkConditions(
  call: string,
  filter: RunsMatching,
  others: readonly string[] = [],
): RunConditions {
  checkNames(call, filter, [...NAMES, ...others])
  const { workflow, status, key, tags } = filter
  if (key !== undefined) checkKey(`${call}: key`, key)
  return {
    ...(workflow === undefined ? {} : { workflow: checkWorkflows(call, workflow) }),
    ...(status === undefined ? {} : { status: checkStatuses(call, status) }),
    ...(key === undefined ? {} : { key }),
    ...(tags === undefined ? {} : { tags: someTags(call, tags) }),
    ...checkRanges(call, filter),
  }
}

function checkNames(call: string, filter: object, known: readonly string[]): void {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) {
    throw refused(call, `the filter must be an object like { workflow: 'order' }; got ${shown(filter)}`)
  }
  for (const [name, value] of Object.entries(filter)) {
    if (!known.includes(name)) {
      throw refused(call, `a filter has no "${name}".${didYouMean(name, known)} It takes ${known.join(', ')}`)
    }
    if (value === undefined) throw undefinedCondition(call, name)
  }
}

function undefinedCondition(call: string, name: string): BelayError {
  return refused(call, `${name} is undefined, which would fit every run. Leave it out if that is meant`)
}

/** What ended runs can be narrowed down by, beside their age. Checked like a filter. Throws `invalid_option`. */
export function checkNarrowing(
  call: string,
  options: { readonly workflow?: unknown; readonly tags?: unknown },
): Pick<RunConditions, 'workflow' | 'tags'> {
  for (const name of ['workflow', 'tags'] as const) {
    if (name in options && options[name] === undefined) throw undefinedCondition(call, name)
  }
  return {
    ...('workflow' in options ? { workflow: checkWorkflows(call, options.workflow) } : {}),
    ...('tags' in options ? { tags: someTags(call, options.tags) } : {}),
  }
}

function checkWorkflows(call: string, workflow: unknown): readonly string[] {
  const names = some(call, 'workflow', workflow, "a workflow's name")
  for (const name of names) {
    if (typeof name !== 'string') throw invalidOption(call, 'workflow', name, "a workflow's name")
    checkKey(`${call}: workflow`, name)
  }
  return names as readonly string[]
}

function checkStatuses(call: string, status: unknown): readonly RunStatus[] {
  const known = Object.keys(RUN_TRANSITIONS)
  const statuses = some(call, 'status', status, 'a status')
  for (const name of statuses) {
    if (typeof name === 'string' && known.includes(name)) continue
    const given = typeof name === 'string' ? JSON.stringify(name) : shown(name)
    const near = typeof name === 'string' ? didYouMean(name, known) : ''
    throw refused(call, `there is no status ${given}.${near} It is one of ${known.join(', ')}`)
  }
  return statuses as readonly RunStatus[]
}

/** Of nothing at all, nobody knows whether it should fit no run or every run. */
function some(call: string, name: string, given: unknown, what: string): readonly unknown[] {
  const values: readonly unknown[] = Array.isArray(given) ? [...given] : [given]
  if (values.length > 0) return values
  throw refused(call, `${name} is an empty array. Give ${what}, or leave ${name} out`)
}

function someTags(call: string, given: unknown): readonly string[] {
  const tags = checkTags(`${call}: tags`, given)
  if (tags.length > 0) return tags
  throw refused(call, 'tags is an empty array, which would fit every run. Give a tag, or leave tags out')
}

function checkRanges(call: string, filter: RunsMatching) {
  const conditions: { -readonly [Name in (typeof RANGES)[number][number]]?: number } = {}
  for (const [after, before] of RANGES) {
    for (const name of [after, before]) {
      const given = filter[name]
      if (given !== undefined) conditions[name] = epochMs(call, name, given)
    }
    if (conditions[after] === undefined || conditions[before] === undefined) continue
    if (conditions[after] < conditions[before]) continue
    throw refused(call, `${after} is not earlier than ${before}, so no run can fit`)
  }
  return conditions
}

// Numbers below are seconds, most likely, which would mean the year 1970; numbers above are beyond what a Date can hold.
const EPOCH_MS_LEAST = 100_000_000_000
const EPOCH_MS_MOST = 8_640_000_000_000_000

function epochMs(call: string, name: string, given: Instant | number): number {
  if (typeof given !== 'number') return instantMs(given, `${call}: ${name}`)
  if (given >= EPOCH_MS_LEAST && given <= EPOCH_MS_MOST) return given
  throw refused(
    call,
    `${name} is ${given}, which is no instant in epoch milliseconds since 1973. Give a Date, or milliseconds as Date.now() returns them`,
  )
}

function refused(call: string, why: string): BelayError {
  return new BelayError('invalid_option', `${call}: ${why}.`)
}

function shown(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value
}
