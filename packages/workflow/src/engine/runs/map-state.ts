import type { ItemCount, StepRecord, StepStatus } from '../../adapter/index.ts'
import { isOpenerName, mapNameOf } from '../../definition/map-draft.ts'
import type { StepProgress } from '../base/told-values.ts'

/** How far a map is. */
export interface MapState {
  /** How many items it has; 0 until it has decided them. */
  readonly items: number
  /** How many of them have ended, however they ended. */
  readonly ended: number
  /** How many have each status; a status without items is left out. */
  readonly statuses: { readonly [Status in StepStatus]?: number }
}

/** The maps of a run by name, from the counts of their items. */
export function mapStates(
  steps: readonly Pick<StepRecord, 'step' | 'name'>[],
  counts: readonly ItemCount[],
): Readonly<Record<string, MapState>> {
  const states = [...openersByMap(steps)].map(
    ([map, opener]) => [map, stateOf(counts.filter((count) => count.map === opener))] as const,
  )
  return Object.fromEntries(states)
}

/** The numbers of the steps that decide items, by the names of their maps. */
export function openersByMap(
  steps: readonly Pick<StepRecord, 'step' | 'name'>[],
): ReadonlyMap<string, number> {
  return new Map(
    steps.flatMap(({ step, name }) => (isOpenerName(name) ? [[mapNameOf(name), step] as const] : [])),
  )
}

/** The progress of the map with this opener, which nobody has to tell. Undefined until it has decided its items. */
export function mapProgress(opener: number, counts: readonly ItemCount[]): StepProgress | undefined {
  const own = counts.filter(({ map }) => map === opener)
  if (own.length === 0) return undefined
  const { items, ended } = stateOf(own)
  const newest = Math.max(...own.map(({ finishedAt }) => finishedAt ?? 0))
  return { done: ended, total: items, note: undefined, at: new Date(newest) }
}

function stateOf(counts: readonly ItemCount[]): MapState {
  let [items, ended] = [0, 0]
  const statuses: Partial<Record<StepStatus, number>> = {}
  for (const { status, count } of counts) {
    items += count
    if (!OPEN.has(status)) ended += count
    statuses[status] = count
  }
  return { items, ended, statuses }
}

const OPEN: ReadonlySet<StepStatus> = new Set(['pending', 'ready', 'running', 'waiting'])
