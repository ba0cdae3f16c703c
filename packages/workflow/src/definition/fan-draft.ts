import { readOptions } from '../options/index.ts'
import { CHILD_OPTION_NAMES, checkOwnKeys, childDraft } from './child-draft.ts'
import type { Handler } from './handler.ts'
import { checkItemFunctions, draftMap, type MapDrafts } from './map-draft.ts'
import { checkOptionNames } from './option-check.ts'
import type { ItemKey } from './step.ts'
import type { StepPolicy, UntypedStepOptions } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

/** The options of a fan that concern its items, besides those of each child. */
export const FAN_OPTION_NAMES = ['over', 'itemKey', 'concurrency', 'itemsMax', 'minSuccess'] as const

type Untyped = Readonly<Record<string, unknown>>

/** Whether `.workflow()` is to start a child for each item of an array. */
export function isFan(options: unknown): boolean {
  return 'over' in (readOptions(options) ?? {})
}

/** Checks the options of `.workflow()` with `over`, and makes the two steps of a map whose items have a child each. */
export function fanDrafts(
  place: WaitPlace,
  child: unknown,
  options: unknown,
  defaults: StepPolicy,
): MapDrafts {
  checkOptionNames(place, 'the fan', options, [...CHILD_OPTION_NAMES, ...FAN_OPTION_NAMES])
  checkItemFunctions(place, options)
  return draftFan(place, child, options, defaults)
}

/** Makes a fan of checked options, from code or from data. Functions are null in a process that only starts runs. */
export function draftFan(
  place: WaitPlace,
  child: unknown,
  options: Untyped,
  defaults: StepPolicy,
): MapDrafts {
  checkOwnKeys(place, 'item', options['key'])
  const { over, itemKey, concurrency, itemsMax, minSuccess, onFailure, ...others } = options
  const { dependsOn, when, onSkipped, ...ofChild } = others
  const { retry, lossesMax } = ofChild as Pick<UntypedStepOptions, 'retry' | 'lossesMax'>
  const map = {
    ...({ dependsOn, when, onSkipped } as Pick<UntypedStepOptions, 'dependsOn' | 'when' | 'onSkipped'>),
    ...{ concurrency, itemsMax, minSuccess, onFailure, retry, lossesMax },
    over: over as Handler | null,
    itemKey: itemKey as ItemKey | null | undefined,
    run: null,
  }
  return draftMap(place, map, defaults, (item) =>
    childDraft(place, child, { ...ofChild, onFailure: item.onFailure }, defaults),
  )
}
