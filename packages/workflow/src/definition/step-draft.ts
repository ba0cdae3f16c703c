import { checkStepName } from '../graph/check.ts'
import { definitionError, type Place } from '../graph/place.ts'
import { type Kind, Refusal } from '../options/index.ts'
import { CONDITION_OPTION_NAMES, choicesOf, condition } from './condition.ts'
import type { CompensationHandler, Handler } from './handler.ts'
import { type KeyLookup, limitPolicies } from './limit.ts'
import { checkOptionNames, oneOf, positiveMs, readOption, shown, wholeNumber } from './option-check.ts'
import { PRIORITY_OPTION_NAMES, priorityOf } from './priority-option.ts'
import { DEFAULT_RETRY, retryPolicy } from './retry-policy.ts'
import { EFFECT_OPTION_NAMES, PIVOT_OPTION_NAMES, sagaPolicy } from './saga-options.ts'
import type {
  Compensation,
  LoopOpener,
  MapJoin,
  MapOpener,
  RetryPolicy,
  Round,
  StepDefinition,
} from './step.ts'
import type { AttemptOptions, CompensateOn, StepDefaults } from './step-options.ts'
import { type TransactionOption, transactionPolicy } from './transaction.ts'

/** A checked step without what needs the whole graph. */
export type StepDraft = Omit<StepDefinition, 'number' | 'branch' | 'map' | 'settled' | 'pivotsBefore'> & {
  readonly map:
    | (Omit<MapOpener, 'item'> & { readonly item: StepDraft })
    | (Omit<LoopOpener, 'item'> & { readonly item: StepDraft })
    | MapJoin
    | Round
    | null
}

/** How the items of a map or the rounds of a loop are executed; undefined for a step that has none. */
export function itemOf<Item>({
  map,
}: {
  readonly map: { readonly part: string; readonly item?: Item } | null
}): Item | undefined {
  return map?.item
}

/** The defaults of a step's options. */
export interface StepPolicy {
  readonly retry: RetryPolicy
  readonly timeoutMs: number | null
  readonly lossesMax: number
}

/** The policy of a step when neither the step nor its workflow sets one. */
export const DEFAULT_POLICY: StepPolicy = Object.freeze({
  retry: DEFAULT_RETRY,
  timeoutMs: null,
  lossesMax: 5,
})

/** The largest `lossesMax`. */
export const LOSSES_MAX = 1_000

export const POLICY_OPTION_NAMES = ['retry', 'timeout', 'lossesMax'] as const

/** A step's options, from code or from data. A handler is null in a process that only starts runs. */
export interface UntypedStepOptions extends StepDefaults {
  readonly dependsOn?: readonly string[] | undefined
  readonly run: Handler | null
  readonly compensate?: CompensationHandler | UntypedCompensateOptions | undefined
  readonly compensateOn?: CompensateOn | undefined
  readonly transaction?: TransactionOption | undefined
  readonly heartbeatTimeout?: unknown
  readonly irreversible?: unknown
  readonly pivot?: unknown
  readonly priority?: unknown
  readonly when?: unknown
  readonly onSkipped?: unknown
  readonly onFailure?: unknown
  readonly concurrency?: unknown
  readonly rateLimit?: unknown
  /** Of a step as data: finds the functions that its limits name. */
  readonly limitKeyOf?: KeyLookup | undefined
}

export interface UntypedCompensateOptions extends AttemptOptions {
  readonly transaction?: TransactionOption | undefined
  readonly heartbeatTimeout?: unknown
  readonly run: CompensationHandler | null
}

/** Checks the options of a step and fills in defaults. Dependencies are checked against the graph later. */
export function stepDraft(
  workflow: string,
  name: string,
  options: UntypedStepOptions,
  defaults: StepPolicy,
): StepDraft {
  checkStepName(workflow, name)
  const place = { workflow, step: name }
  const policy = stepPolicy(place, options, defaults)
  const conditions = condition(place, options)
  return {
    name,
    dependsOn: dependencies(place, options.dependsOn, choicesOf(conditions.when)),
    ...conditions,
    onFailure: onFailureOf(place, options),
    ...policy,
    ...sagaPolicy(place, options),
    heartbeatMs: heartbeatMs(place, options.heartbeatTimeout),
    priority: priorityOf(place, options.priority),
    transaction: transactionPolicy(place, options.transaction),
    run: options.run,
    wait: null,
    map: null,
    cases: null,
    limits: stepLimits(place, options),
    compensation: compensation(place, options, { timeoutMs: policy.timeoutMs, retry: undoRetry(defaults) }),
  }
}

function stepLimits(
  place: Place,
  { limitKeyOf: keyOf, ...options }: UntypedStepOptions,
): StepDraft['limits'] {
  const limits = limitPolicies(place, options, { of: 'step', keyOf })
  if (options.when === undefined && limits.some(({ atLimit }) => atLimit === 'skip')) {
    throw definitionError(
      place,
      "concurrency.atLimit is 'skip', and the step has no when: what comes after it would not know that it may be skipped. Give the step when: () => true. Items of a map and rounds of a loop cannot be skipped: they wait.",
    )
  }
  return limits
}

function onFailureOf(place: Place, { onFailure }: UntypedStepOptions): StepDraft['onFailure'] {
  return onFailure === undefined ? 'stop' : oneOf(place, 'onFailure', onFailure, ['stop', 'continue'])
}

/** Reads `retry`, `timeout` and `lossesMax`. */
export function stepPolicy(place: Place, options: StepDefaults, inherited: StepPolicy): StepPolicy {
  return {
    retry: retryPolicy(place, options.retry, inherited.retry),
    timeoutMs: timeoutMs(place, options.timeout, inherited.timeoutMs),
    lossesMax:
      options.lossesMax === undefined
        ? inherited.lossesMax
        : wholeNumber(place, 'lossesMax', options.lossesMax, { min: 0, max: LOSSES_MAX }),
  }
}

function timeoutMs(place: Place, given: AttemptOptions['timeout'], inherited: number | null): number | null {
  if (given === undefined) return inherited
  if (given === false) return null
  return positiveMs(place, 'timeout', given, ' Give false for no timeout.')
}

/** Never inherited: a handler that sends no heartbeats would fail by it. */
function heartbeatMs(place: Place, given: unknown): number | null {
  return given === undefined ? null : positiveMs(place, 'heartbeatTimeout', given)
}

/** A step depends on the choices of its `when`, whether it names them in `dependsOn` or not. */
function dependencies(place: Place, given: unknown, choices: readonly string[]): readonly string[] {
  const named = given === undefined ? [] : readOption(place, 'dependsOn', given, STEP_NAMES)
  return Object.freeze([...named, ...choices.filter((choice) => !named.includes(choice))])
}

// The graph checks whether such steps exist.
const STEP_NAMES: Kind<readonly string[]> = {
  words: 'an array of names of steps',
  read: (given) => (Array.isArray(given) ? Array.from(given) : new Refusal(shown(given))),
}

/**
 * A compensation that gives up parks its run. So a workflow's `retry: false` does not apply to compensations: a single attempt must be set on the
 * compensation itself.
 */
function undoRetry({ retry }: StepPolicy): RetryPolicy {
  return retry.attempts > 1 ? retry : Object.freeze({ ...retry, attempts: DEFAULT_RETRY.attempts })
}

function compensation(
  place: Place,
  options: UntypedStepOptions,
  inherited: Pick<StepPolicy, 'retry' | 'timeoutMs'>,
): Compensation | null {
  const { compensate, compensateOn } = options
  if (compensate === undefined) {
    if (compensateOn === undefined) return null
    throw definitionError(
      place,
      'compensateOn is given, but there is no compensate. Add it, or remove compensateOn.',
    )
  }
  const { run, transaction, heartbeatTimeout, ...attempts }: UntypedCompensateOptions =
    typeof compensate === 'function' ? { run: compensate } : compensate
  const retry = retryPolicy(place, attempts.retry, inherited.retry)
  // If a step is slow, its compensation often is too: it inherits the step's timeout.
  const limitMs = timeoutMs(place, attempts.timeout, inherited.timeoutMs)
  const on =
    compensateOn === undefined
      ? 'completed'
      : oneOf(place, 'compensateOn', compensateOn, ['completed', 'started'])
  const policy = transactionPolicy(place, transaction)
  const beatMs = heartbeatMs(place, heartbeatTimeout)
  return Object.freeze({ run, on, retry, timeoutMs: limitMs, heartbeatMs: beatMs, transaction: policy })
}

const STEP_OPTION_NAMES = [
  'dependsOn',
  'run',
  'compensate',
  'compensateOn',
  'transaction',
  'onFailure',
  'heartbeatTimeout',
  'concurrency',
  'rateLimit',
  ...EFFECT_OPTION_NAMES,
  ...PRIORITY_OPTION_NAMES,
  ...PIVOT_OPTION_NAMES,
  ...CONDITION_OPTION_NAMES,
  ...POLICY_OPTION_NAMES,
] as const

/** Refuses unknown options of `.step()` and handlers that are not functions. In TypeScript the compiler does that. */
export function checkStepOptions(place: Place, options: unknown): asserts options is UntypedStepOptions {
  checkOptionNames(place, 'the step', options, STEP_OPTION_NAMES)
  checkHandlers(place, options as { readonly run?: unknown; readonly compensate?: unknown })
}

/** Refuses handlers that are not functions. */
export function checkHandlers(
  place: Place,
  options: { readonly run?: unknown; readonly compensate?: unknown },
): void {
  checkHandler(place, 'run', options.run)
  checkCompensation(place, 'compensate', options.compensate)
}

/** Refuses a compensation that is neither a function nor options with one. */
export function checkCompensation(place: Place, option: string, given: unknown): void {
  if (given === undefined || typeof given === 'function') return
  checkOptionNames(place, option, given, ['run', 'retry', 'timeout', 'heartbeatTimeout', 'transaction'])
  checkHandler(place, `run of ${option}`, (given as { readonly run?: unknown }).run)
}

function checkHandler(place: Place, option: string, handler: unknown): void {
  if (typeof handler === 'function') return
  throw definitionError(place, `${option} is ${shown(handler)}, and must be a function.`)
}
