import { definitionError } from '../graph/place.ts'
import { readOptions } from '../options/index.ts'
import { CHILD_OPTION_NAMES, checkOwnKeys, childDraft, isChildWorkflow } from './child-draft.ts'
import { type CheckedLoop, draftLoop, type LoopDrafts, ROUNDS_OPTION_NAMES, roundsOf } from './loop-draft.ts'
import { checkOptionNames } from './option-check.ts'
import type { StepPolicy, UntypedStepOptions } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

type Untyped = Readonly<Record<string, unknown>>

/** Options of `.repeat()` that say how a handler is called. */
const HANDLER_OPTION_NAMES = [
  'run',
  'timeout',
  'transaction',
  'compensateOn',
  'heartbeatTimeout',
  'irreversible',
] as const

/** Whether `.repeat()` was called with a child, of which each round is to start one. */
export function isChildLoop(child: unknown, options: unknown): boolean {
  return options !== undefined || isChildWorkflow(child)
}

/** Checks the options of `.repeat()` with a child, and makes the two steps of a loop whose rounds have a child each. */
export function childLoopDrafts(
  place: WaitPlace,
  child: unknown,
  options: unknown,
  defaults: StepPolicy,
): LoopDrafts {
  checkNoHandler(place, options)
  checkOptionNames(place, 'the loop', options, [...CHILD_OPTION_NAMES, ...ROUNDS_OPTION_NAMES])
  const { first, until, max, delay, ...others } = options
  return draftChildLoop(place, child, others, roundsOf(place, { first, until, max, delay }), defaults)
}

/** Makes a loop of checked options, from code or from data. Functions are null in a process that only starts runs. */
export function draftChildLoop(
  place: WaitPlace,
  child: unknown,
  options: Untyped,
  loop: CheckedLoop,
  defaults: StepPolicy,
): LoopDrafts {
  checkOwnKeys(place, 'round', options['key'])
  const { dependsOn, when, onSkipped, onFailure, retry, lossesMax } = options as unknown as UntypedStepOptions
  const asWhole = { dependsOn, when, onSkipped, onFailure, retry, lossesMax, run: null }
  return draftLoop(place, asWhole, loop, defaults, () => {
    const { dependsOn: _, when: __, onSkipped: ___, ...ofChild } = options
    return childDraft(place, child, ofChild, defaults)
  })
}

function checkNoHandler(place: WaitPlace, options: unknown): void {
  const given = readOptions(options) ?? {}
  const name = HANDLER_OPTION_NAMES.find((option) => option in given)
  if (name === undefined) return
  throw definitionError(
    place,
    `${name} is given, and each round of this loop runs a child instead of a handler. Give ${name} to the steps of the child, or remove the child.`,
  )
}
