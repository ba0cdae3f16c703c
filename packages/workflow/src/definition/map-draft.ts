import { ITEMS_MAX } from '../adapter/item-numbers.ts'
import { definitionError } from '../graph/place.ts'
import type { Handler } from './handler.ts'
import { checkOptionNames, shown, wholeNumber } from './option-check.ts'
import type { ItemKey } from './step.ts'
import {
  checkHandlers,
  POLICY_OPTION_NAMES,
  type StepDraft,
  type StepPolicy,
  stepDraft,
  type UntypedStepOptions,
} from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

const MAP_OPTION_NAMES = [
  'dependsOn',
  'over',
  'itemKey',
  'concurrency',
  'itemsMax',
  'run',
  'compensate',
  'compensateOn',
  'transaction',
  ...POLICY_OPTION_NAMES,
] as const

/** The most items of a map that does not set `itemsMax`. */
const ITEMS_MAX_DEFAULT = 10_000

/** The name of the step that decides a map's items. No user can give a step such a name. */
export function openerName(map: string): string {
  return `${map}[]`
}

/** Whether this is the name of a step that decides a map's items. */
export function isOpenerName(name: string): boolean {
  return name.endsWith('[]')
}

/**
 * Checks the options of `.map()` and makes the map's two steps: one decides the items, the other gathers their outputs and has the map's name. The
 * items themselves become rows only in a run.
 */
export function mapDrafts(
  place: WaitPlace,
  options: unknown,
  defaults: StepPolicy,
): readonly [opener: StepDraft, join: StepDraft] {
  checkOptionNames(place, 'the map', options, MAP_OPTION_NAMES)
  const { over, itemKey, concurrency, itemsMax, dependsOn, ...itemOptions } = options as unknown as Untyped
  if (typeof over !== 'function') {
    throw definitionError(place, `over is ${shown(over)}, and must be a function that returns the items.`)
  }
  if (itemKey !== undefined && typeof itemKey !== 'function') {
    throw definitionError(
      place,
      `itemKey is ${shown(itemKey)}, and must be a function from an item to its key.`,
    )
  }
  checkHandlers(place, itemOptions)
  const { workflow, step: name } = place
  const { retry, lossesMax } = itemOptions
  const item = stepDraft(workflow, name, itemOptions, defaults)
  const opener = stepDraft(workflow, name, { dependsOn, retry, lossesMax, run: over as Handler }, defaults)
  const join = stepDraft(workflow, name, { run: null }, defaults)
  const limit = (option: string, given: unknown, max: number) =>
    wholeNumber(place, option, given, { min: 1, max })
  const map = {
    part: 'map',
    item,
    atOnce: concurrency === undefined ? null : limit('concurrency', concurrency, ITEMS_MAX),
    itemsMax: itemsMax === undefined ? ITEMS_MAX_DEFAULT : limit('itemsMax', itemsMax, ITEMS_MAX),
    keyOf: (itemKey as ItemKey | undefined) ?? null,
  } as const
  return [
    { ...opener, name: openerName(name), map: Object.freeze(map) },
    { ...join, dependsOn: Object.freeze([openerName(name)]), map: JOIN },
  ]
}

const JOIN = Object.freeze({ part: 'join' } as const)

type Untyped = UntypedStepOptions & {
  readonly over?: unknown
  readonly itemKey?: unknown
  readonly concurrency?: unknown
  readonly itemsMax?: unknown
}
