import { ITEMS_MAX } from '../adapter/item-numbers.ts'
import { definitionError } from '../graph/place.ts'
import { CONDITION_OPTION_NAMES } from './condition.ts'
import type { Handler } from './handler.ts'
import { openerName } from './map-draft.ts'
import { checkOptionNames, optionMs, shown, wholeNumber } from './option-check.ts'
import { EFFECT_OPTION_NAMES } from './saga-options.ts'
import type { Round } from './step.ts'
import {
  checkHandlers,
  POLICY_OPTION_NAMES,
  type StepDraft,
  type StepPolicy,
  stepDraft,
  type UntypedStepOptions,
} from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

/** The options of a loop that concern its rounds together. */
export const ROUNDS_OPTION_NAMES = ['first', 'until', 'max', 'delay'] as const

const LOOP_OPTION_NAMES = [
  'dependsOn',
  ...ROUNDS_OPTION_NAMES,
  'run',
  'onFailure',
  'compensate',
  'compensateOn',
  'transaction',
  'heartbeatTimeout',
  'concurrency',
  ...EFFECT_OPTION_NAMES,
  ...CONDITION_OPTION_NAMES,
  ...POLICY_OPTION_NAMES,
] as const

/** The most rounds of a loop that does not set a limit. */
const ROUNDS_MAX_DEFAULT = 1_000

/** Checks the options of `.repeat()`, and makes the loop's two steps. */
export function loopDrafts(place: WaitPlace, options: unknown, defaults: StepPolicy): LoopDrafts {
  checkOptionNames(place, 'the loop', options, LOOP_OPTION_NAMES)
  const { first, until, max, delay, ...round } = options as unknown as UntypedStepOptions & GivenRounds
  const loop = roundsOf(place, { first, until, max, delay })
  checkHandlers(place, round)
  return draftLoop(place, round, loop, defaults)
}

interface GivenRounds {
  readonly first?: unknown
  readonly until?: unknown
  readonly max?: unknown
  readonly delay?: unknown
}

/** Checks what code says of the rounds together. */
export function roundsOf(place: WaitPlace, { first, until, max, delay }: GivenRounds): CheckedLoop {
  if (typeof until !== 'function') {
    throw definitionError(
      place,
      `until is ${shown(until)}, and must be a function that returns true for the last round.`,
    )
  }
  if (first !== undefined && typeof first !== 'function') {
    throw definitionError(
      place,
      `first is ${shown(first)}, and must be a function that returns what the first round gets as last.`,
    )
  }
  return {
    first: first as Handler | undefined,
    until: until as Round['until'],
    roundsMax: roundsMax(place, 'max', max),
    delay: typeof delay === 'function' ? (delay as Round['delay']) : delayMs(place, delay),
  }
}

export type LoopDrafts = readonly [opener: StepDraft, join: StepDraft]

/** A loop's checked options, from code or from data, besides those of its rounds. Functions are null in a process that only starts runs. */
export interface CheckedLoop extends Omit<Round, 'part'> {
  readonly first: Handler | null | undefined
}

/**
 * Makes the two steps of a loop: one begins it, the other has its name and its output. The rounds become rows only in a run. `roundDraft` makes the
 * step by which each of them is executed.
 */
export function draftLoop(
  place: WaitPlace,
  options: UntypedStepOptions,
  { first, ...policy }: CheckedLoop,
  defaults: StepPolicy,
  roundDraft = (round: UntypedStepOptions) => stepDraft(place.workflow, place.step, round, defaults),
): LoopDrafts {
  const { dependsOn, when, onSkipped, ...round } = options
  const { workflow, step: name } = place
  // A loop fails as a whole: with its beginning, or with a round.
  const { retry, lossesMax, onFailure } = round
  // What decides whether the loop runs is asked before its first round. The join is skipped with the opener.
  const run = first === undefined ? noRoundBefore : first
  const opener = stepDraft(
    workflow,
    name,
    { dependsOn, when, onSkipped, onFailure, retry, lossesMax, run } as UntypedStepOptions,
    defaults,
  )
  const item = {
    ...roundDraft(round),
    map: Object.freeze({ part: 'round' as const, ...policy }),
  }
  const join = stepDraft(workflow, name, { run: null, onFailure }, defaults)
  return [
    { ...opener, name: openerName(name), map: Object.freeze({ part: 'repeat', item }) },
    {
      ...join,
      dependsOn: Object.freeze([openerName(name)]),
      map: Object.freeze({ part: 'join', of: 'repeat', collects: null }),
    },
  ]
}

function noRoundBefore(): undefined {}

export function roundsMax(place: WaitPlace, option: string, given: unknown): number {
  return given === undefined
    ? ROUNDS_MAX_DEFAULT
    : wholeNumber(place, option, given, { min: 1, max: ITEMS_MAX })
}

/** The time between two rounds, in milliseconds. */
export function delayMs(place: WaitPlace, given: unknown): number {
  return given === undefined ? 0 : optionMs(place, 'delay', given)
}
