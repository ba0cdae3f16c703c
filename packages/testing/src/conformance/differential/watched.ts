import { type Adapter, isItem, type ReadItems, type StepRecord, withDiffering } from '@belay/workflow/adapter'

/** Reads again and again only those items that differ, as a watcher does, and compares what it knows with a read of the whole run. */
export class WatchedItems {
  readonly #known = new Map<string, ReadItems>()

  async compare(adapter: Adapter, runId: string, steps: readonly StepRecord[]): Promise<void> {
    const before = this.#known.get(runId) ?? new Map()
    const known = [...before].map(([first, { print }]) => ({ first, print }))
    const found = await adapter.readRun(runId, { known, after: 0, groupsMax: 1_000, outputs: true })
    const items = withDiffering(before, found!.steps, found!.differing!)
    this.#known.set(runId, items)
    const [told, whole] = [[...items.values()].flatMap(({ rows }) => rows), steps.filter(isOfItem)]
    if (JSON.stringify(told.map(shown)) === JSON.stringify(whole.map(shown))) return
    throw new Error(`A watcher of run ${runId} has missed a change of an item.`)
  }
}

function isOfItem({ step }: StepRecord): boolean {
  return isItem(step)
}

/** What watchers are told of an item. */
function shown({ name, status, round, attempts, failures, losses, output, error, undo }: StepRecord) {
  return [name, status, round, attempts, failures, losses, output, error, undo?.attempts, undo?.failures]
}
