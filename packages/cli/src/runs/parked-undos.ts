import type { BulkOptions, BulkResult, RunSnapshot, RunsMatching, RunsToChange } from '@belay/workflow'
import type { Store } from '../store/store.ts'
import { itemsOf, runWithoutItems } from './items.ts'

/** What a repair does to one step's undo in these runs. */
type Repair = (runs: RunsToChange, step: string, options: BulkOptions) => Promise<BulkResult>

/** Repairs every undo that is parked in these runs, one step after the other. A run counts once, however many of its undos are parked. */
export async function onParkedUndos(
  store: Store,
  runs: RunsToChange,
  options: BulkOptions,
  repair: Repair,
): Promise<BulkResult> {
  const { limit: _, onProgress, ...each } = options
  const { stepsOf, unknown, more } = await parkedIn(store, runs, options)
  const runsOf = new Map<string, string[]>()
  for (const [id, steps] of stepsOf)
    for (const step of steps) runsOf.set(step, [...(runsOf.get(step) ?? []), id])
  const results: BulkResult[] = []
  const seen = new Set<string>([...stepsOf].flatMap(([id, steps]) => (steps.length === 0 ? [id] : [])))
  for (const [step, ids] of runsOf) {
    if (options.signal?.aborted) break
    results.push(await repair(ids, step, each))
    for (const id of ids) seen.add(id)
    await onProgress?.({ matched: seen.size, changed: 0, refused: 0 })
  }
  const changed = new Set(results.flatMap(({ runIds }) => runIds))
  const runIds = [...stepsOf.keys()].filter((id) => changed.has(id))
  return {
    matched: seen.size,
    changed: runIds.length,
    runIds,
    refused: results.flatMap(({ refused }) => refused),
    refusals: results.flatMap(({ refusals }) => refusals),
    unknown,
    more: more || options.signal?.aborted === true || results.some((result) => result.more),
  }
}

const LIMIT_DEFAULT = 1_000
const PAGE = 1_000

interface Parked {
  /** The steps of each run whose undo is parked; none for a run without. */
  readonly stepsOf: ReadonlyMap<string, readonly string[]>
  readonly unknown: readonly string[]
  readonly more: boolean
}

async function parkedIn(store: Store, runs: RunsToChange, options: BulkOptions): Promise<Parked> {
  const { ids, more } = Array.isArray(runs)
    ? { ids: runs as readonly string[], more: false }
    : await idsOf(store, runs as RunsMatching, options.limit ?? LIMIT_DEFAULT)
  const stepsOf = new Map<string, readonly string[]>()
  const unknown: string[] = []
  for (const id of ids) {
    if (options.signal?.aborted) break
    const run = await runWithoutItems(store, id)
    if (run === undefined) unknown.push(id)
    else stepsOf.set(id, await parkedStepsOf(store, run))
  }
  return { stepsOf, unknown, more }
}

async function idsOf({ engine }: Store, matching: RunsMatching, most: number) {
  const filter: RunsMatching = { status: 'compensation_failed', ...matching }
  const ids: string[] = []
  for (;;) {
    // One more tells whether there are more.
    const limit = Math.min(PAGE, most + 1 - ids.length)
    const page = await engine.runs.list({ ...filter, before: ids.at(-1), limit })
    for (const { id } of page) ids.push(id)
    if (page.length < limit || ids.length > most) return { ids: ids.slice(0, most), more: ids.length > most }
  }
}

async function parkedStepsOf(store: Store, run: RunSnapshot): Promise<readonly string[]> {
  const isParked = ({ status }: { readonly status: string }) => status === 'compensation_failed'
  const names = run.steps.filter(isParked).map(({ name }) => name)
  for (const [map, { statuses }] of Object.entries(run.maps)) {
    if (statuses.compensation_failed === undefined) continue
    for await (const item of itemsOf(store, { run: run.id, map })) if (isParked(item)) names.push(item.name)
  }
  return names
}
