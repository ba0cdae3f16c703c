import type { RunSnapshot, StepSnapshot } from '@belay/workflow'
import type { Store } from '../store/store.ts'

/** An item of a map, and its place in it, from 0. */
export interface Item extends StepSnapshot {
  readonly index: number
  readonly itemKey: string
}

const PAGE = 1_000

/** The items of a map after the one with this index, in their order. A run has no more items at a time in memory than a page. */
export async function* itemsOf(
  { engine }: Store,
  { run, map, after }: { readonly run: string; readonly map: string; readonly after?: number | undefined },
): AsyncGenerator<Item> {
  for (let last = after ?? -1; ; ) {
    const items = { of: map, limit: PAGE, ...(last < 0 ? {} : { after: last }) }
    const found = await engine.runs.get(run, { items })
    let read = 0
    for (const step of found?.steps ?? []) {
      if (!isItemOf(step, map)) continue
      read += 1
      last += 1
      yield { ...step, index: last }
    }
    if (read < PAGE) return
  }
}

function isItemOf(step: StepSnapshot, map: string): step is StepSnapshot & { readonly itemKey: string } {
  return step.itemKey !== undefined && mapOf(step.name, step.itemKey) === map
}

/** The map of an item: `packItem` of `packItem[3]`. */
function mapOf(name: string, itemKey: string): string {
  return name.slice(0, -itemKey.length - 2)
}

/** A run with its steps, and without the items of its maps, which it counts. */
export function runWithoutItems({ engine }: Store, id: string): Promise<RunSnapshot | undefined> {
  return engine.runs.get(id, { items: { limit: 0 } })
}

/** A step or an item of this run by its name. */
export async function stepNamed(
  store: Store,
  run: RunSnapshot,
  name: string,
): Promise<StepSnapshot | undefined> {
  const own = run.steps.find((step) => step.name === name)
  if (own !== undefined) return own
  for (const map of Object.keys(run.maps).filter((each) => name.startsWith(`${each}[`))) {
    for await (const item of itemsOf(store, { run: run.id, map })) if (item.name === name) return item
  }
  return undefined
}
