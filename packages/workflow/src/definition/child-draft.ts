import { definitionError } from '../graph/place.ts'
import { type Kind, Refusal, readAs } from '../options/index.ts'
import { CONDITION_OPTION_NAMES } from './condition.ts'
import type { Handler } from './handler.ts'
import { checkOptionNames, readOption, shown, wholeNumber, yesOrNo } from './option-check.ts'
import { DEFAULT_RETRY } from './retry-policy.ts'
import type { Compensation } from './step.ts'
import { type StepDraft, type StepPolicy, stepDraft } from './step-draft.ts'
import type { Child, ChildKey, ChildWorkflow } from './wait.ts'
import type { WaitPlace } from './wait-draft.ts'
import type { WorkflowDefinition } from './workflow.ts'

export const CHILD_OPTION_NAMES = [
  'dependsOn',
  'input',
  'key',
  'detached',
  'compensate',
  'depthMax',
  'retry',
  'lossesMax',
  'onFailure',
  ...CONDITION_OPTION_NAMES,
] as const

/** How many parents above one another a child may have unless its step says so. */
const DEPTH_MAX_DEFAULT = 10

type Untyped = Readonly<Record<string, unknown>>

/** Checks the options of `.workflow()` and fills in defaults. `input` is null in a process that only starts runs. */
export function childDraft(
  place: WaitPlace,
  child: unknown,
  options: unknown,
  defaults: StepPolicy,
): StepDraft {
  checkOptionNames(place, 'the child', options, CHILD_OPTION_NAMES)
  const { input, detached, compensate, depthMax } = options
  if (input !== undefined && input !== null && typeof input !== 'function') {
    throw definitionError(
      place,
      `input is ${shown(input)}, and must be a function that returns the child's input.`,
    )
  }
  const isDetached = yesOrNo(place, 'detached', detached ?? false)
  const keepsEffects = compensate !== undefined && !yesOrNo(place, 'compensate', compensate)
  const draft = draftOf(place, options, defaults)
  const wait: Child = {
    kind: 'child',
    of: readOption(place, 'its child', child, CHILD),
    computesInput: input !== undefined,
    key: childKey(place, options['key']),
    detached: isDetached,
    keepsEffects,
    depthMax:
      depthMax === undefined
        ? DEPTH_MAX_DEFAULT
        : wholeNumber(place, 'depthMax', depthMax, { min: 1, max: 100 }),
  }
  return { ...draft, timeoutMs: null, wait: Object.freeze(wait), compensation: isDetached ? null : UNDO }
}

function draftOf(place: WaitPlace, options: Untyped, defaults: StepPolicy): StepDraft {
  const { dependsOn, retry, lossesMax, when, onSkipped, onFailure, input } = options as Record<string, never>
  const run = (input ?? null) as Handler | null
  const given = { dependsOn, retry, lossesMax, when, onSkipped, onFailure, run }
  return stepDraft(place.workflow, place.step, given, defaults)
}

/** The engine undoes the child, also if the step did not complete: its child may be there. */
const UNDO: Compensation = Object.freeze({
  run: () => {},
  on: 'started',
  retry: DEFAULT_RETRY,
  timeoutMs: null,
  heartbeatMs: null,
  transaction: null,
})

const CHILD: Kind<Child['of']> = {
  words: 'a definition made by define() or defineGraph(), or the name of a workflow',
  read(given) {
    if (typeof given === 'string' && given !== '') return given
    const { name, version, record } = given as ChildWorkflow & { readonly record?: unknown }
    const { start } = given as Partial<WorkflowDefinition>
    if (start != null)
      return new Refusal(
        `workflow ${shown(name)}, whose start collects calls,`,
        ' A child is one run for one step: give it a workflow without the option start.',
      )
    const isDefinition = typeof name === 'string' && typeof version === 'number' && record !== undefined
    return isDefinition ? (given as ChildWorkflow) : new Refusal(shown(given))
  },
}

/** Whether this is what `.workflow()` takes as a child. */
export function isChildWorkflow(given: unknown): boolean {
  const isGiven = typeof given === 'string' || (typeof given === 'object' && given !== null)
  return isGiven && !Refusal.is(readAs(CHILD, given))
}

/** Refuses one key for the children of several rows. `row`: what each of them is. */
export function checkOwnKeys(place: WaitPlace, row: 'item' | 'round', key: unknown): void {
  if (typeof key !== 'string') return
  throw definitionError(
    place,
    `key is ${shown(key)}, and each ${row}'s child needs a key of its own: give a function of the ${row}, or leave it out.`,
  )
}

function childKey(place: WaitPlace, given: unknown): ChildKey | null {
  if (given === undefined) return null
  if (typeof given === 'function') return given as ChildKey
  if (typeof given === 'string' && given !== '') return () => given
  throw definitionError(place, `key is ${shown(given)}, and must be a text, or a function that returns one.`)
}
