import type { BulkOptions, BulkResult, RunsMatching, RunsToChange } from '@belay/workflow'
import type { Store } from '../store/store.ts'

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
/** More are not read with their steps at once. */
const PAGE = 100

interface Parked {
  /** The steps of each run whose undo is parked; none for a run without. */
  readonly stepsOf: ReadonlyMap<string, readonly string[]>
  readonly unknown: readonly string[]
  readonly more: boolean
}

async function parkedIn({ engine }: Store, runs: RunsToChange, options: BulkOptions): Promise<Parked> {
  const stepsOf = new Map<string, readonly string[]>()
  const add = (run: { readonly id: string; readonly steps: readonly Step[] }) =>
    stepsOf.set(
      run.id,
      run.steps.filter(({ status }) => status === 'compensation_failed').map(({ name }) => name),
    )
  if (Array.isArray(runs)) {
    const unknown: string[] = []
    for (const id of runs as readonly string[]) {
      const run = await engine.runs.get(id)
      if (run === undefined) unknown.push(id)
      else add(run)
    }
    return { stepsOf, unknown, more: false }
  }
  const filter: RunsMatching = { status: 'compensation_failed', ...(runs as RunsMatching) }
  const most = options.limit ?? LIMIT_DEFAULT
  for (let before: string | undefined; ; ) {
    const limit = Math.min(PAGE, most - stepsOf.size + 1)
    const page = await engine.runs.list({ ...filter, before, limit, steps: true })
    for (const run of page.slice(0, most - stepsOf.size)) add(run)
    before = page.at(-1)?.id
    if (page.length < limit || stepsOf.size === most) {
      return { stepsOf, unknown: [], more: before !== undefined && !stepsOf.has(before) }
    }
  }
}

interface Step {
  readonly name: string
  readonly status: string
}
