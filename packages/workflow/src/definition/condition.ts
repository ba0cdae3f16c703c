import type { CaseCondition } from '../adapter/case-condition.ts'
import { definitionError, listed, type Place } from '../graph/place.ts'
import { nearest, offered } from '../nearest.ts'
import { type Kind, Refusal, readOptions } from '../options/index.ts'
import { isStorableText } from '../storable-text.ts'
import { oneOf, readOption, shown } from './option-check.ts'
import { type OnFailure, OUTCOMES } from './settled.ts'

/** What a `when` is given: what decides, and nothing for effects. */
export interface WhenContext<Input = unknown, Deps = Readonly<Record<string, unknown>>> {
  readonly runId: string
  /** The step's name. */
  readonly step: string
  readonly input: Input
  /** Outputs of the steps named in `dependsOn`, by name. */
  readonly deps: Deps
}

/** Tells whether a step runs. Asked once in each round of the step: the answer is stored before the handler begins. */
export type WhenHandler = (context: WhenContext) => unknown

/** When a step runs. A function is null in a process that only starts runs. */
export type When =
  | { readonly by: 'function'; readonly run: WhenHandler | null }
  | { readonly by: 'cases'; readonly cases: readonly CaseCondition[] }

/** The parts of a step that decide whether it runs. */
export interface Condition {
  /** Null for a step without `when`. */
  readonly when: When | null
  /** What happens to the step when a dependency was skipped. */
  readonly onSkipped: 'skip' | 'run'
}

/** The options of every kind of step that decide whether it runs. */
export const CONDITION_OPTION_NAMES = ['when', 'onSkipped'] as const

export function condition(
  place: Place,
  { when, onSkipped }: { readonly when?: unknown; readonly onSkipped?: unknown },
): Condition {
  return {
    when: when === undefined ? null : readWhen(place, when),
    onSkipped: onSkipped === undefined ? 'skip' : oneOf(place, 'onSkipped', onSkipped, ['skip', 'run']),
  }
}

function readWhen(place: Place, given: unknown): When {
  if (typeof given === 'function' || given === null) {
    return Object.freeze({ by: 'function', run: given as WhenHandler | null })
  }
  const choices = Object.entries(readOptions(given) ?? {})
  if (choices.length === 0) {
    throw definitionError(
      place,
      `when is ${shown(given)}, and must be a function that returns true or false, or an object with the case of a choice, like { method: 'card' }.`,
    )
  }
  const cases = choices.sort(byName).map(([choice, chosen]) => {
    const list = typeof chosen === 'string' ? [chosen] : chosen
    return Object.freeze({ choice, cases: readCases(place, `when.${choice}`, list) })
  })
  return Object.freeze({ by: 'cases', cases: Object.freeze(cases) })
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

/** The cases of a choice, sorted: their order means nothing. */
export function readCases(place: Place, option: string, given: unknown): readonly string[] {
  return Object.freeze([...readOption(place, option, given, CASES)].sort())
}

/** The most characters in a case. */
const CASE_LENGTH_MAX = 128

const CASES: Kind<readonly string[]> = {
  words: `an array of one or more different strings, each of 1 to ${CASE_LENGTH_MAX} characters`,
  read: (given) => {
    const isCase = (one: unknown) =>
      typeof one === 'string' && one !== '' && one.length <= CASE_LENGTH_MAX && isStorableText(one)
    const isFine =
      Array.isArray(given) && given.length > 0 && given.every(isCase) && new Set(given).size === given.length
    return isFine ? (given as readonly string[]) : new Refusal(shown(given))
  },
}

/** The names of the choices on which a step depends by its `when`. */
export function choicesOf(when: When | null): readonly string[] {
  return when?.by === 'cases' ? when.cases.map(({ choice }) => choice) : []
}

/** The cases of a step that a `when` may name: of a choice its own, and of a step past whose failure the run continues, how it ended. */
function casesOf({ cases, onFailure }: Decides): readonly string[] | null {
  return cases ?? (onFailure === 'continue' ? OUTCOMES : null)
}

interface Decides {
  readonly cases: readonly string[] | null
  readonly onFailure: OnFailure
}

/** Refuses a `when` that names a step which is no choice, or a case that its choice does not have. Unknown steps are refused elsewhere. */
export function checkCases(
  place: Place,
  when: When | null,
  find: (name: string) => Decides | undefined,
): void {
  if (when?.by !== 'cases') return
  for (const { choice, cases } of when.cases) {
    const found = find(choice)
    if (found === undefined) continue
    const known = casesOf(found)
    if (known === null) {
      throw definitionError(
        place,
        `when names "${choice}", which is not a choice. Give when a function that looks at deps, make "${choice}" a step with choose(), or give it onFailure: 'continue' to name how it ended.`,
      )
    }
    const wrong = cases.find((one) => !known.includes(one))
    if (wrong === undefined) continue
    const suggestion = nearest(wrong, known)
    throw definitionError(
      place,
      `when names the case "${wrong}" of "${choice}", which has no such case.${offered(suggestion)} Its cases are ${listed(known)}.`,
      { name: wrong, suggestion },
    )
  }
}
