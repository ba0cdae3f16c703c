import type { Explanation, SerialisedError, StepSnapshot } from '@belay/workflow'
import type { ItemErrorGroup, ItemVerb } from '../api/maps.ts'
import type { Texts } from './texts.ts'

export interface IndexedItem {
  readonly item: StepSnapshot
  readonly index: number
}

const ITEM_VERBS: readonly ItemVerb[] = ['retryStep', 'skipStep', 'retryCompensation', 'skipCompensation']

export function isItemVerb(verb: unknown): verb is ItemVerb {
  return ITEM_VERBS.includes(verb as ItemVerb)
}

/** A group as all viewers share it: what each of them may do is told afterwards. */
export type SharedGroup = Omit<ItemErrorGroup, 'actions'> & { readonly verbs: readonly ItemVerb[] }

/** Items with the same error in the same state, the largest group first. */
export function groupErrors(
  items: readonly IndexedItem[],
  { texts, offers }: { readonly texts: Texts; readonly offers: Offers },
): readonly SharedGroup[] {
  const groups = new Map<string, Failing[]>()
  for (const { item, index } of items) {
    const failure = failureOf(item)
    if (failure === undefined) continue
    // As it is told, not as it is stored: a viewer who may not read messages sees no difference that they make.
    const error = texts.error(failure.error, item.name)
    const failing = { ...failure, error, index, item }
    const key = `${failure.state} ${error}`
    const others = groups.get(key)
    if (others === undefined) groups.set(key, [failing])
    else others.push(failing)
  }
  return [...groups.values()]
    .map((group) => groupOf(group, offers))
    .toSorted((one, other) => other.items.length - one.items.length)
}

interface Failing extends IndexedItem {
  readonly state: ItemErrorGroup['state']
  readonly error: string
  readonly at: number | undefined
}

function groupOf(group: readonly Failing[], offers: Offers): SharedGroup {
  const [{ state, error }] = group as readonly [Failing]
  const times = group.flatMap(({ at }) => at ?? []).toSorted((one, other) => one - other)
  return {
    ...{ state, error, since: times[0], until: times.at(-1) },
    items: group.map(({ index, item }) => ({ index, key: item.itemKey! })),
    verbs: ITEM_VERBS.filter((verb) => group.some(({ item }) => offers.get(item.name)?.has(verb))),
  }
}

export function isFailing(item: StepSnapshot): boolean {
  return failureOf(item) !== undefined
}

/** How an item fails, if it does: for good, or until its next attempt. */
export function failureOf(
  item: StepSnapshot,
): { state: ItemErrorGroup['state']; error: SerialisedError; at: number | undefined } | undefined {
  const { status, error, failures, finishedAt, undo } = item
  const forward = error && { error, at: finishedAt?.getTime() }
  const back = undo?.error && { error: undo.error, at: undo.finishedAt?.getTime() }
  switch (status) {
    case 'failed':
      return { state: 'failed', ...(forward ?? { error: { name: 'Error', message: '' }, at: undefined }) }
    case 'ready':
    case 'waiting':
      return forward && failures > 0 ? { state: 'retrying', ...forward } : undefined
    case 'compensation_failed':
      return back && { state: 'undo parked', ...back }
    case 'compensating':
      return back && undo!.failures > 0 ? { state: 'undo retrying', ...back } : undefined
    default:
      return undefined
  }
}

/** What the engine offers, by the names of steps. */
export type Offers = ReadonlyMap<string, ReadonlySet<string>>

export function offersIn({ steps }: Explanation): Offers {
  return new Map(
    steps.map(({ step, actions }) => [
      step,
      new Set(actions.flatMap(({ verb, run }) => (run === undefined ? verb : []))),
    ]),
  )
}
