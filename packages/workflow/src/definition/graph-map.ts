import { readOptions } from '../options/index.ts'
import type { Handler } from './handler.ts'
import { draftMap, type UntypedMapOptions } from './map-draft.ts'
import { checkOptionNames } from './option-check.ts'
import type { ItemKey } from './step.ts'
import type { StepDraft, StepPolicy, UntypedStepOptions } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

const OWN_OPTION_NAMES = [
  'over',
  'itemKey',
  'concurrency',
  'itemsMax',
  'onFailure',
  'minSuccess',
  'compensateAll',
] as const

type Untyped = Readonly<Record<string, unknown>>

/** Tells whether a step as data is a map: then it says over what. */
export function isGraphMap(step: unknown): step is Untyped {
  const given = readOptions(step)
  return given !== undefined && 'over' in given
}

/** What completes a map or a loop as data. `item` are the options of its items or rounds, with their handlers found. */
export interface GraphItemParts {
  readonly optionNames: readonly string[]
  readonly item: (options: Untyped) => UntypedStepOptions
  readonly handler: (option: string, name: unknown) => unknown
  readonly defaults: StepPolicy
}

/** Checks a map as data and completes it. */
export function graphMapDrafts(place: WaitPlace, step: Untyped, parts: GraphItemParts): readonly StepDraft[] {
  checkOptionNames(place, 'the map', step, [...OWN_OPTION_NAMES, ...parts.optionNames])
  const { over, itemKey, concurrency, itemsMax, onFailure, minSuccess, compensateAll, ...options } = step
  const map: UntypedMapOptions = {
    ...parts.item(options),
    over: parts.handler('over', over) as Handler | null,
    itemKey: itemKey === undefined ? undefined : (parts.handler('itemKey', itemKey) as ItemKey | null),
    concurrency,
    itemsMax,
    onFailure,
    minSuccess,
    // Given like compensate.
    compensateAll:
      compensateAll === undefined
        ? undefined
        : parts.item({ ...options, compensate: compensateAll }).compensate,
  }
  return draftMap(place, map, parts.defaults)
}
