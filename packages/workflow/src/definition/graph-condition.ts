import type { Duration } from '../duration.ts'
import { definitionError } from '../graph/place.ts'
import { readOptions } from '../options/index.ts'
import { chooseDraft } from './choose-draft.ts'
import { CONDITION_OPTION_NAMES } from './condition.ts'
import { checkOptionNames } from './option-check.ts'
import { RETRY_OPTION_NAMES, type RetryOptions } from './retry-policy.ts'
import type { StepDraft, StepPolicy } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

/** When a step of a graph as data runs. */
export interface GraphCondition<HandlerName extends string = string> {
  // A template, or the compiler would take an object of cases for the name of a handler.
  /**
   * The name of the handler that decides, or for each choice the case or cases with which the step runs. The handler gets `input`, `deps`, `runId`
   * and `step` only.
   */
  readonly when?: `${HandlerName}` | Readonly<Record<string, string | readonly string[]>> | undefined
  /** Default `skip`: the step is skipped with any of its dependencies. */
  readonly onSkipped?: 'skip' | 'run' | undefined
}

/** A step of a graph as data that chooses a case. */
export interface GraphChoice<HandlerName extends string = string>
  extends GraphCondition<HandlerName>,
    RetryOptions {
  /** The name of the handler that returns one of the cases. */
  readonly on: HandlerName
  readonly cases: readonly string[]
  readonly timeout?: Duration | false | undefined
  readonly lossesMax?: number | undefined
}

/** What the draft of a step as data needs besides the step. */
export interface GraphParts {
  readonly dependsOn: readonly string[]
  /** Finds the handler that an option names. */
  readonly handler: (option: string, name: unknown) => unknown
  readonly defaults: StepPolicy
}

type Untyped = Readonly<Record<string, unknown>>

/** The step's condition, as `define()` takes it. */
export function graphCondition(
  { when, onSkipped }: Untyped,
  handler: GraphParts['handler'],
): { readonly when: unknown; readonly onSkipped: unknown } {
  return { when: typeof when === 'string' ? handler('when', when) : when, onSkipped }
}

/** Tells whether a step as data chooses a case. */
export function isGraphChoice(step: unknown): step is Untyped {
  const given = readOptions(step)
  return given !== undefined && 'on' in given
}

const CHOICE_OPTION_NAMES = [
  'on',
  'cases',
  'timeout',
  'lossesMax',
  ...RETRY_OPTION_NAMES,
  ...CONDITION_OPTION_NAMES,
] as const

/** Checks a choice as data and completes it. */
export function graphChoiceDraft(
  place: WaitPlace,
  step: Untyped,
  { dependsOn, handler, defaults }: GraphParts,
): StepDraft {
  if (Object.hasOwn(step, 'handler')) {
    throw definitionError(place, 'on and handler are both given. A step does one thing: keep one.')
  }
  checkOptionNames(place, 'the choice', step, CHOICE_OPTION_NAMES)
  const { on, cases, timeout, lossesMax, when: _, onSkipped: __, ...retry } = step
  const given = { dependsOn, cases, timeout, lossesMax, retry, ...graphCondition(step, handler) }
  return chooseDraft(place, { ...given, on: handler('on', on) }, defaults)
}
