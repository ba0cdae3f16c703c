import { definitionError } from '../graph/place.ts'
import { CONDITION_OPTION_NAMES, readCases } from './condition.ts'
import type { Handler } from './handler.ts'
import { checkOptionNames, shown } from './option-check.ts'
import { POLICY_OPTION_NAMES, type StepDraft, type StepPolicy, stepDraft } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

const CHOOSE_OPTION_NAMES = [
  'dependsOn',
  'on',
  'cases',
  ...CONDITION_OPTION_NAMES,
  ...POLICY_OPTION_NAMES,
] as const

/** Checks the options of `.choose()` and fills in defaults. `on` is null in a process that only starts runs. */
export function chooseDraft(place: WaitPlace, options: unknown, defaults: StepPolicy): StepDraft {
  checkOptionNames(place, 'the choice', options, CHOOSE_OPTION_NAMES)
  const { on, cases, ...others } = options
  if (typeof on !== 'function' && on !== null) {
    throw definitionError(place, `on is ${shown(on)}, and must be a function that returns one of cases.`)
  }
  const draft = stepDraft(place.workflow, place.step, { ...others, run: on as Handler | null }, defaults)
  return { ...draft, cases: readCases(place, 'cases', cases) }
}
