import { definitionError, type Place } from '../graph/place.ts'
import { instant, readOptions } from '../options/index.ts'
import { CONDITION_OPTION_NAMES } from './condition.ts'
import type { Handler } from './handler.ts'
import { checkSchema } from './input-schema.ts'
import { checkOptionNames, optionMs, positiveMs, readOption, shown } from './option-check.ts'
import { type StepDraft, type StepPolicy, stepDraft } from './step-draft.ts'
import type { OnTimeout, SignalWait } from './wait.ts'

const SLEEP_OPTION_NAMES = ['dependsOn', 'for', 'until', 'onFailure', ...CONDITION_OPTION_NAMES] as const
const SIGNAL_OPTION_NAMES = [
  'dependsOn',
  'schema',
  'timeout',
  'onTimeout',
  'onFailure',
  ...CONDITION_OPTION_NAMES,
] as const
const POLL_OPTION_NAMES = [
  'dependsOn',
  'every',
  'until',
  'timeout',
  'retry',
  'lossesMax',
  'onFailure',
  ...CONDITION_OPTION_NAMES,
] as const

type Untyped = Readonly<Record<string, unknown>>

/** Checks the options of `.sleep()` and fills in defaults. */
export function sleepDraft(place: WaitPlace, options: unknown, defaults: StepPolicy): StepDraft {
  checkOptionNames(place, 'the sleep', options, SLEEP_OPTION_NAMES)
  const { for: length, until } = options
  if ((length === undefined) === (until === undefined)) {
    throw definitionError(
      place,
      length === undefined
        ? "a sleep must have either for, like '3d', or until, like a Date."
        : 'for and until are both given. Keep one: for is a duration, until is an instant.',
    )
  }
  const by = until === undefined ? 'for' : 'until'
  const given = until ?? length
  const measure = typeof given === 'function' ? (given as Handler) : null
  const ms =
    measure !== null
      ? null
      : by === 'for'
        ? optionMs(place, 'for', given)
        : readOption(place, 'until', given, instant)
  return { ...draft(place, options, measure, defaults), wait: Object.freeze({ kind: 'sleep', by, ms }) }
}

/** Checks the options of `.waitForSignal()` and `.approval()` and fills in defaults. */
export function signalDraft(
  place: WaitPlace,
  kind: SignalWait['kind'],
  options: unknown,
  defaults: StepPolicy,
): StepDraft {
  checkOptionNames(place, `the ${kind}`, options, SIGNAL_OPTION_NAMES)
  const { schema } = options
  if (schema !== undefined) checkSchema(place, 'schema', schema)
  const wait: SignalWait = {
    kind,
    schema: schema as SignalWait['schema'],
    timeoutMs: waitMs(place, 'timeout', options['timeout']),
    onTimeout: onTimeout(place, options),
  }
  return { ...draft(place, options, null, defaults), wait: Object.freeze(wait) }
}

/** Checks the options of `.poll()` and fills in defaults. `until` is null in a process that only starts runs. */
export function pollDraft(place: WaitPlace, options: unknown, defaults: StepPolicy): StepDraft {
  checkOptionNames(place, 'the poll', options, POLL_OPTION_NAMES)
  const { until } = options
  if (typeof until !== 'function' && until !== null) {
    throw definitionError(
      place,
      `until is ${shown(until)}, and must be a function that checks: undefined, null and false mean "not yet".`,
    )
  }
  const everyMs = waitMs(place, 'every', options['every'])
  if (everyMs === null) throw definitionError(place, "a poll must have every, like '1m'.")
  const timeoutMs = waitMs(place, 'timeout', options['timeout'])
  const checked = draft(place, options, until as Handler | null, defaults)
  return { ...checked, wait: Object.freeze({ kind: 'poll', everyMs, timeoutMs }) }
}

/** A place that is a step. */
export interface WaitPlace extends Place {
  readonly step: string
}

function draft(place: WaitPlace, options: Untyped, run: Handler | null, defaults: StepPolicy): StepDraft {
  const { dependsOn, retry, lossesMax, when, onSkipped, onFailure } = options as Record<string, never>
  const given = { dependsOn, retry, lossesMax, when, onSkipped, onFailure, run }
  return stepDraft(place.workflow, place.step, given, defaults)
}

function waitMs(place: Place, option: string, given: unknown): number | null {
  return given === undefined ? null : positiveMs(place, option, given)
}

function onTimeout(place: Place, options: Untyped): OnTimeout {
  const { onTimeout: given, timeout } = options
  if (given === undefined) return 'fail'
  if (timeout === undefined) {
    throw definitionError(place, 'onTimeout is given, but there is no timeout. Add it, or remove onTimeout.')
  }
  if (given === 'fail' || typeof given === 'function') return given as OnTimeout
  const standIn = readOptions(given)
  if (standIn !== undefined && Object.keys(standIn).join() === 'output') {
    return Object.freeze({ output: standIn['output'] })
  }
  throw definitionError(
    place,
    `onTimeout is ${shown(given)}, and must be 'fail', { output: … } with a stand-in, or a function that makes one.`,
  )
}
