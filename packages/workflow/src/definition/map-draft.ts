import { ITEMS_MAX } from '../adapter/item-numbers.ts'
import { definitionError } from '../graph/place.ts'
import { CONDITION_OPTION_NAMES } from './condition.ts'
import type { Handler } from './handler.ts'
import { checkOptionNames, oneOf, shown, wholeNumber } from './option-check.ts'
import { EFFECT_OPTION_NAMES } from './saga-options.ts'
import type { CollectPolicy, ItemKey } from './step.ts'
import {
  checkCompensation,
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
  'onFailure',
  'minSuccess',
  'run',
  'compensate',
  'compensateAll',
  'compensateOn',
  'transaction',
  'heartbeatTimeout',
  ...EFFECT_OPTION_NAMES,
  ...CONDITION_OPTION_NAMES,
  ...POLICY_OPTION_NAMES,
] as const

/** The most items of a map that does not set `itemsMax`. */
const ITEMS_MAX_DEFAULT = 10_000

/** The name of the step that decides a map's items, or begins a loop. No user can give a step such a name. */
export function openerName(map: string): string {
  return `${map}[]`
}

/** The name of the map whose items a step of this name decides. */
export function mapNameOf(opener: string): string {
  return opener.slice(0, -2)
}

/** Whether this is the name of a step that decides a map's items. */
export function isOpenerName(name: string): boolean {
  return name.endsWith('[]')
}

/** Checks the options of `.map()`, and makes the map's two steps. */
export function mapDrafts(place: WaitPlace, options: unknown, defaults: StepPolicy): MapDrafts {
  checkOptionNames(place, 'the map', options, MAP_OPTION_NAMES)
  const given = options as unknown as UntypedMapOptions
  checkItemFunctions(place, given)
  checkHandlers(place, given)
  checkCompensation(place, 'compensateAll', given.compensateAll)
  return draftMap(place, given, defaults)
}

/** Refuses `over` and `itemKey` that are not functions. */
export function checkItemFunctions(
  place: WaitPlace,
  given: { readonly over?: unknown; readonly itemKey?: unknown },
): void {
  for (const option of ['over', 'itemKey'] as const) {
    const value: unknown = given[option]
    if (typeof value === 'function' || (option === 'itemKey' && value === undefined)) continue
    throw definitionError(place, `${option} is ${shown(value)}, and must be a function.`)
  }
}

export type MapDrafts = readonly [opener: StepDraft, join: StepDraft]

/** A map's options, from code or from data. Functions are null in a process that only starts runs. */
export interface UntypedMapOptions extends UntypedStepOptions {
  readonly over: Handler | null
  readonly itemKey?: ItemKey | null | undefined
  readonly concurrency?: unknown
  readonly itemsMax?: unknown
  readonly minSuccess?: unknown
  readonly compensateAll?: UntypedStepOptions['compensate']
}

/**
 * Makes the two steps of a map: one decides the items, the other gathers their outputs and has the map's name. The items themselves become rows only
 * in a run. `itemDraft` makes the step by which each of them is executed.
 */
export function draftMap(
  place: WaitPlace,
  options: UntypedMapOptions,
  defaults: StepPolicy,
  itemDraft = (item: UntypedStepOptions) => stepDraft(place.workflow, place.step, item, defaults),
): MapDrafts {
  const {
    over,
    itemKey,
    concurrency,
    itemsMax,
    dependsOn,
    when,
    onSkipped,
    onFailure,
    minSuccess,
    compensateAll,
    ...others
  } = options
  const { workflow, step: name } = place
  const { retry, lossesMax } = others
  const [itemUndo, mapUndo] = undosOf(place, options)
  const collects = collectPolicy(place, onFailure, minSuccess)
  const itemFailure = collects === null ? 'stop' : 'continue'
  // A number is about the items of one map, and limits are about the items of all runs.
  const isOfMap = concurrency === undefined || typeof concurrency !== 'object' || concurrency === null
  const limits = isOfMap ? {} : { concurrency }
  const item = itemDraft({ ...others, ...itemUndo, ...limits, onFailure: itemFailure })
  // What decides whether the map runs is asked before its items are known. The join is skipped with the opener.
  const openerOptions = { dependsOn, when, onSkipped, retry, lossesMax, run: over, ...mapUndo }
  const opener = stepDraft(workflow, name, openerOptions, defaults)
  const join = stepDraft(workflow, name, { run: null }, defaults)
  const limit = (option: string, given: unknown) =>
    wholeNumber(place, option, given, { min: 1, max: ITEMS_MAX })
  const map = {
    part: 'map',
    item,
    atOnce: concurrency === undefined || !isOfMap ? null : limit('concurrency', concurrency),
    itemsMax: itemsMax === undefined ? ITEMS_MAX_DEFAULT : limit('itemsMax', itemsMax),
    keyOf: itemKey ?? null,
  } as const
  return [
    { ...opener, name: openerName(name), map: Object.freeze(map) },
    {
      ...join,
      dependsOn: Object.freeze([openerName(name)]),
      map: Object.freeze({ part: 'join', of: 'map', collects }),
    },
  ]
}

/** What the items and the step that decides them are undone by. Whether a map was undone at all is known from its items. */
function undosOf(place: WaitPlace, { compensate, compensateAll, compensateOn }: UntypedMapOptions) {
  if (compensateAll === undefined) return [{ compensate, compensateOn }, {}] as const
  if (compensate === undefined) {
    return [
      { compensate, compensateOn: undefined },
      { compensate: compensateAll, compensateOn },
    ] as const
  }
  throw definitionError(
    place,
    'compensate and compensateAll are both given. compensate undoes each item, compensateAll all of them at once: remove one.',
  )
}

function collectPolicy(place: WaitPlace, onFailure: unknown, minSuccess: unknown): CollectPolicy | null {
  const policy = onFailure === undefined ? 'stop' : oneOf(place, 'onFailure', onFailure, ['stop', 'collect'])
  if (policy === 'collect') return Object.freeze({ minSuccess: leastSuccess(place, minSuccess) })
  if (minSuccess === undefined) return null
  throw definitionError(
    place,
    "minSuccess is given, but without onFailure: 'collect' every item must complete. Add that, or remove minSuccess.",
  )
}

function leastSuccess(place: WaitPlace, given: unknown): CollectPolicy['minSuccess'] {
  if (given === undefined) return null
  if (typeof given === 'number')
    return { items: wholeNumber(place, 'minSuccess', given, { min: 1, max: ITEMS_MAX }) }
  const percent = typeof given === 'string' && PERCENT.test(given) ? Number.parseFloat(given) : 0
  if (percent > 0 && percent <= 100) return { percent }
  throw definitionError(
    place,
    `minSuccess is ${shown(given)}, and must be a whole number of items, or a text like '90%', above 0% and at most 100%.`,
  )
}

const PERCENT = /^\d{1,3}(\.\d+)?%$/
