import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { WaitKind } from '../adapter/records.ts'
import type { SignalKind } from '../adapter/step-kinds.ts'
import type { Duration } from '../duration.ts'
import { definitionError } from '../graph/place.ts'
import type { Instant } from '../instant.ts'
import { readOptions } from '../options/index.ts'
import { childDraft } from './child-draft.ts'
import { CONDITION_OPTION_NAMES } from './condition.ts'
import { type GraphCondition, type GraphParts, graphCondition } from './graph-condition.ts'
import { checkOptionNames, shown } from './option-check.ts'
import { RETRY_OPTION_NAMES, type RetryOptions } from './retry-policy.ts'
import type { FailingOptions } from './settled.ts'
import type { StepDraft } from './step-draft.ts'
import { pollDraft, signalDraft, sleepDraft, type WaitPlace } from './wait-draft.ts'

/** A step of a graph as data that waits. */
export type GraphWait<HandlerName extends string = string> = GraphCondition<HandlerName> &
  FailingOptions &
  (
    | { readonly sleep: Duration }
    | { readonly sleepUntil: Instant }
    | ({ readonly signal: true } & GraphSignal)
    | ({ readonly approval: true } & GraphSignal)
    | GraphPoll<HandlerName>
    | GraphChild<HandlerName>
  )

interface GraphSignal {
  readonly schema?: StandardSchemaV1 | undefined
  readonly timeout?: Duration | undefined
  readonly onTimeout?: 'fail' | { readonly output: unknown } | undefined
}

interface GraphPoll<HandlerName extends string> extends RetryOptions {
  /** The name of the handler that checks. */
  readonly poll: HandlerName
  readonly every: Duration
  readonly timeout?: Duration | undefined
  readonly lossesMax?: number | undefined
}

/** A step that runs another workflow, its child. */
export interface GraphChild<HandlerName extends string> extends RetryOptions {
  /** The name of the child's workflow. */
  readonly workflow: string
  /** The name of the handler that returns the child's input. Default: the parent's input. */
  readonly input?: HandlerName | undefined
  readonly key?: string | undefined
  readonly detached?: boolean | undefined
  readonly compensate?: boolean | undefined
  readonly depthMax?: number | undefined
  readonly lossesMax?: number | undefined
}

/** The keys that make a step of each kind. A step has one of them. */
const KEYS_OF_KIND = {
  sleep: ['sleep', 'sleepUntil'],
  signal: ['signal'],
  approval: ['approval'],
  poll: ['poll'],
  child: ['workflow'],
} as const satisfies Readonly<Record<WaitKind, readonly string[]>>

const POLL_OPTION_NAMES = [
  'poll',
  'every',
  'timeout',
  'lossesMax',
  'onFailure',
  ...RETRY_OPTION_NAMES,
  ...CONDITION_OPTION_NAMES,
] as const

export const GRAPH_CHILD_OPTION_NAMES = [
  'workflow',
  'input',
  'key',
  'detached',
  'compensate',
  'depthMax',
  'lossesMax',
  'onFailure',
  ...RETRY_OPTION_NAMES,
  ...CONDITION_OPTION_NAMES,
] as const

const KEYS = Object.values(KEYS_OF_KIND).flat()

type Untyped = Readonly<Record<string, unknown>>

/** Tells whether a step as data waits. Its key says for what. */
export function isGraphWait(step: unknown): step is Untyped {
  const given = readOptions(step)
  return given !== undefined && KEYS.some((key) => key in given)
}

/** Checks a waiting step as data and completes it. `handler` finds a handler by its name. */
export function graphWaitDraft(place: WaitPlace, step: Untyped, parts: GraphParts): StepDraft {
  const [key, ...others] = [...KEYS, 'handler'].filter((name) => Object.hasOwn(step, name))
  if (others[0] !== undefined) {
    throw definitionError(place, `${key} and ${others[0]} are both given. A step does one thing: keep one.`)
  }
  const { dependsOn, defaults } = parts
  const given = { dependsOn, onFailure: step['onFailure'], ...graphCondition(step, parts.handler) }
  switch (key as (typeof KEYS)[number]) {
    case 'sleep':
      checkOptionNames(place, 'the sleep', step, ['sleep', 'onFailure', ...CONDITION_OPTION_NAMES])
      return sleepDraft(place, { ...given, for: constant(place, 'sleep', step['sleep']) }, defaults)
    case 'sleepUntil':
      checkOptionNames(place, 'the sleep', step, ['sleepUntil', 'onFailure', ...CONDITION_OPTION_NAMES])
      return sleepDraft(
        place,
        { ...given, until: constant(place, 'sleepUntil', step['sleepUntil']) },
        defaults,
      )
    case 'signal':
    case 'approval':
      return graphSignalDraft(place, key as SignalKind, step, parts)
    case 'poll':
      return graphPollDraft(place, step, parts)
    case 'workflow':
      return graphChildDraft(place, step, parts)
  }
}

function graphChildDraft(place: WaitPlace, step: Untyped, parts: GraphParts): StepDraft {
  checkOptionNames(place, 'the child', step, GRAPH_CHILD_OPTION_NAMES)
  return childDraft(place, step['workflow'], graphChildOptions(place, step, parts), parts.defaults)
}

/** The options of a child as data, as code gives them. */
export function graphChildOptions(
  place: WaitPlace,
  step: Untyped,
  { dependsOn, handler }: GraphParts,
): Untyped {
  const { workflow: _, input, key, detached, compensate, depthMax, lossesMax, onFailure, ...others } = step
  const { when: __, onSkipped: ___, ...retry } = others
  constant(place, 'key', key)
  const own = { key, detached, compensate, depthMax, lossesMax, onFailure, retry }
  const computed = input === undefined ? {} : { input: handler('input', input) }
  return { dependsOn, ...own, ...computed, ...graphCondition(step, handler) }
}

function graphSignalDraft(
  place: WaitPlace,
  kind: SignalKind,
  step: Untyped,
  { dependsOn, handler, defaults }: GraphParts,
): StepDraft {
  const { [kind]: wanted, ...options } = step
  if (wanted !== true) throw definitionError(place, `${kind} is ${shown(wanted)}, and must be true.`)
  constant(place, 'onTimeout', options['onTimeout'])
  return signalDraft(place, kind, { ...options, dependsOn, ...graphCondition(step, handler) }, defaults)
}

function graphPollDraft(
  place: WaitPlace,
  step: Untyped,
  { dependsOn, handler, defaults }: GraphParts,
): StepDraft {
  checkOptionNames(place, 'the poll', step, POLL_OPTION_NAMES)
  const { poll, every, timeout, lossesMax, onFailure, when: _, onSkipped: __, ...retry } = step
  const given = { dependsOn, every, timeout, lossesMax, onFailure, retry, ...graphCondition(step, handler) }
  return pollDraft(place, { ...given, until: handler('poll', poll) }, defaults)
}

/** Data has no functions. */
function constant(place: WaitPlace, option: string, given: unknown): unknown {
  if (typeof given !== 'function') return given
  throw definitionError(place, `${option} is a function, and data has none. Use define() for it.`)
}
