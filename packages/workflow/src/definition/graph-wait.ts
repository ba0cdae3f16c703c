import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { WaitKind } from '../adapter/records.ts'
import type { SignalKind } from '../adapter/step-kinds.ts'
import type { Duration } from '../duration.ts'
import { definitionError } from '../graph/place.ts'
import type { Instant } from '../instant.ts'
import { readOptions } from '../options/index.ts'
import { checkOptionNames, shown } from './option-check.ts'
import { RETRY_OPTION_NAMES, type RetryOptions } from './retry-policy.ts'
import type { StepDraft, StepPolicy } from './step-draft.ts'
import { pollDraft, signalDraft, sleepDraft, type WaitPlace } from './wait-draft.ts'

/** A step of a graph as data that waits. */
export type GraphWait<HandlerName extends string = string> =
  | { readonly sleep: Duration }
  | { readonly sleepUntil: Instant }
  | ({ readonly signal: true } & GraphSignal)
  | ({ readonly approval: true } & GraphSignal)
  | GraphPoll<HandlerName>

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

/** The keys that make a step of each kind. A step has one of them. */
const KEYS_OF_KIND = {
  sleep: ['sleep', 'sleepUntil'],
  signal: ['signal'],
  approval: ['approval'],
  poll: ['poll'],
} as const satisfies Readonly<Record<WaitKind, readonly string[]>>

const KEYS = Object.values(KEYS_OF_KIND).flat()

type Untyped = Readonly<Record<string, unknown>>

/** Tells whether a step as data waits. Its key says for what. */
export function isGraphWait(step: unknown): step is Untyped {
  const given = readOptions(step)
  return given !== undefined && KEYS.some((key) => key in given)
}

/** Checks a waiting step as data and completes it. `handler` finds a handler by its name. */
export function graphWaitDraft(
  place: WaitPlace,
  step: Untyped,
  parts: {
    readonly dependsOn: readonly string[]
    readonly handler: (name: unknown) => unknown
    readonly defaults: StepPolicy
  },
): StepDraft {
  const [key, ...others] = [...KEYS, 'handler'].filter((name) => Object.hasOwn(step, name))
  if (others[0] !== undefined) {
    throw definitionError(place, `${key} and ${others[0]} are both given. A step does one thing: keep one.`)
  }
  const { dependsOn, defaults } = parts
  switch (key as (typeof KEYS)[number]) {
    case 'sleep':
      checkOptionNames(place, 'the sleep', step, ['sleep'])
      return sleepDraft(place, { dependsOn, for: constant(place, 'sleep', step['sleep']) }, defaults)
    case 'sleepUntil':
      checkOptionNames(place, 'the sleep', step, ['sleepUntil'])
      return sleepDraft(
        place,
        { dependsOn, until: constant(place, 'sleepUntil', step['sleepUntil']) },
        defaults,
      )
    case 'signal':
    case 'approval':
      return graphSignalDraft(place, key as SignalKind, step, parts)
    case 'poll':
      return graphPollDraft(place, step, parts)
  }
}

function graphSignalDraft(
  place: WaitPlace,
  kind: SignalKind,
  step: Untyped,
  { dependsOn, defaults }: { readonly dependsOn: readonly string[]; readonly defaults: StepPolicy },
): StepDraft {
  const { [kind]: wanted, ...options } = step
  if (wanted !== true) throw definitionError(place, `${kind} is ${shown(wanted)}, and must be true.`)
  constant(place, 'onTimeout', options['onTimeout'])
  return signalDraft(place, kind, { ...options, dependsOn }, defaults)
}

function graphPollDraft(
  place: WaitPlace,
  step: Untyped,
  parts: {
    readonly dependsOn: readonly string[]
    readonly handler: (name: unknown) => unknown
    readonly defaults: StepPolicy
  },
): StepDraft {
  checkOptionNames(place, 'the poll', step, ['poll', 'every', 'timeout', 'lossesMax', ...RETRY_OPTION_NAMES])
  const { poll, every, timeout, lossesMax, ...retry } = step
  const { dependsOn, handler, defaults } = parts
  return pollDraft(place, { dependsOn, every, timeout, lossesMax, retry, until: handler(poll) }, defaults)
}

/** Data has no functions. */
function constant(place: WaitPlace, option: string, given: unknown): unknown {
  if (typeof given !== 'function') return given
  throw definitionError(place, `${option} is a function, and data has none. Use define() for it.`)
}
