import { type Claim, isItem, mapOf, type NewItem, templateOf } from '../../adapter/index.ts'
import type { MapOpener, StepDefinition } from '../../definition/step.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { PermanentError } from '../../handler-errors.ts'
import { ITEM_KEY_LENGTH_MAX } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { isStorableText } from '../../storable-text.ts'
import { watchAnswer } from '../../thenable.ts'
import { counted } from '../../words.ts'
import { toJsonText } from '../base/payload.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import { endOfRound, firstRound } from './rounds.ts'
import type { OutputOf, PartsOfPayload } from './serialised-output.ts'

/** How a row is executed: as its step, for an item as its map says, for a round as its loop says. */
export function stepOf({ steps }: WorkflowDefinition, number: number): StepDefinition {
  const step = steps[templateOf(number)]!
  const { map } = step
  if (templateOf(number) === number || (map?.part !== 'map' && map?.part !== 'repeat')) return step
  return map.item
}

/** The step of an item, with the item's name: `resize[key]`. */
export function namedItem(step: StepDefinition, item: NewItem | undefined): StepDefinition {
  if (item === undefined || step.name.endsWith(']')) return step
  let naming = namings.get(step)
  if (naming === undefined) {
    naming = namingOf(step)
    namings.set(step, naming)
  }
  return naming(`${step.name}[${item.key}]`)
}

// Each item has a step of its own, which inherits all but the name from that of its map. A copy for each item takes several times as long.
const namings = new WeakMap<StepDefinition, (name: string) => StepDefinition>()

function namingOf(step: StepDefinition): (name: string) => StepDefinition {
  class NamedItem {
    readonly name: string
    constructor(name: string) {
      this.name = name
    }
  }
  Object.setPrototypeOf(NamedItem.prototype, step)
  return (name) => new NamedItem(name) as StepDefinition
}

interface ClaimedRow {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
}

/**
 * The numbers of the steps that may become ready when an attempt succeeds. An item stands between the two steps of its map, and a round behind the
 * round before it.
 */
export function dependentsOf({
  claim: { step, direction },
  definition: { graph },
}: ClaimedRow): readonly number[] {
  // In an undo, a round may also make the round before it ready: that is one row as well.
  if (isItem(step)) return direction === 'undo' ? [mapOf(step)] : graph.dependents[mapOf(step)]!
  return (direction === 'undo' ? graph.dependencies : graph.dependents)[step]!
}

/** How many items an attempt frees by its success: one, for an item of a map that limits how many are under way. */
export function freedBy({ claim: { step, direction }, definition }: ClaimedRow): number {
  if (!isItem(step) || direction === 'undo') return 0
  const { map } = definition.steps[mapOf(step)]!
  return map?.part === 'map' && map.atOnce !== null ? 1 : 0
}

/** The end of an attempt of a map or a loop in which a handler returned. `serialised` is the end with an output as JSON text. */
export function endOfPart(
  attempt: OutputOf,
  returned: unknown,
  parts: PartsOfPayload,
  serialised: (value: unknown) => AttemptEnd,
): AttemptEnd {
  const { step, claim } = attempt
  switch (step.map?.part) {
    case 'map':
      return expanded(returned, step.map, claim.runId, parts)
    case 'repeat':
      return firstRound(attempt, returned, parts)
    case 'round':
      return endOfRound(attempt, returned, serialised)
    default:
      return serialised(returned)
  }
}

/**
 * The end of an attempt in which a map's `over` returned.
 *
 * @throws PermanentError for anything but an array of at most `itemsMax` items with different keys; `payload_unserialisable`, `payload_too_large`.
 */
function expanded(
  returned: unknown,
  map: MapOpener,
  runId: string,
  { payloadMaxBytes, log }: PartsOfPayload,
): AttemptEnd {
  const { name } = map.item
  if (!Array.isArray(returned)) {
    throw new PermanentError(
      `over of map "${name}" returned ${shown(returned)}. It must return an array with the items.`,
    )
  }
  if (returned.length > map.itemsMax) {
    throw new PermanentError(
      `over of map "${name}" returned ${counted(returned.length, 'item')}, and at most ${map.itemsMax} are allowed. Raise itemsMax, or let one item stand for several.`,
    )
  }
  const taken = new Map<string, number>()
  const items = Array.from(returned as readonly unknown[], (value, index): NewItem => {
    const key = keyOf(map, name, value, index)
    const other = taken.get(key)
    if (other !== undefined) {
      throw new PermanentError(
        `Items ${other} and ${index} of map "${name}" have the same key ${shown(key)}. itemKey must give each item its own.`,
      )
    }
    taken.set(key, index)
    const what = `Item ${shown(key)} of map "${name}" of run ${runId}`
    return {
      key,
      value: toJsonText(value, payloadMaxBytes, () => ({
        what,
        runId,
        step: name,
        log,
        subject: `Item of map "${name}"`,
      })),
    }
  })
  return { type: 'expands', items, atOnce: map.atOnce }
}

function keyOf({ keyOf: given }: MapOpener, name: string, value: unknown, index: number): string {
  if (given === null) return String(index)
  const key: unknown = given(value, index)
  watchAnswer(key)
  const fits = typeof key === 'string' && key !== '' && key.length <= ITEM_KEY_LENGTH_MAX
  if (fits && isStorableText(key)) return key
  throw new PermanentError(
    `itemKey of map "${name}" returned ${shown(key)} for item ${index}. A key is a text of 1 to ${ITEM_KEY_LENGTH_MAX} characters without NUL or unpaired surrogates.`,
  )
}
