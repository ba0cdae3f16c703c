import type { Adapter, RefusedRow, RunConditions, RunRecord } from '../../adapter/index.ts'
import { sendApart } from '../base/send-apart.ts'
import { isNamedBy, type RunLookup } from '../runs/run-reference.ts'

const PAGE = 200

/** The runs to act on: those that match a filter, or a list. */
export type Selection = RunConditions | readonly RunLookup[]

export type SelectedRun = Pick<RunRecord, 'runId' | 'status'>

export interface Visits {
  /** The most runs to visit. */
  readonly limit: number
  /** Ends the visits before the next page. */
  readonly signal?: AbortSignal | undefined
  readonly visit: (page: readonly SelectedRun[]) => Promise<void>
  /** The list names a run that does not exist. */
  readonly onUnknown: (lookup: RunLookup) => void
  /** A run that matches cannot be read. */
  readonly onUnread: (runId: string, error: unknown) => void
}

/** Visits the selected runs page by page. Resolves to whether there are more than the limit, or the signal ended the visits. */
export async function eachPage(adapter: Adapter, selection: Selection, visits: Visits): Promise<boolean> {
  await adapter.open()
  if (visits.signal?.aborted === true) return true
  return isList(selection)
    ? eachPageOfList(adapter, selection, visits)
    : eachPageOfFilter(adapter, selection, visits)
}

export function isList(selection: Selection): selection is readonly RunLookup[] {
  return Array.isArray(selection)
}

async function eachPageOfFilter(
  adapter: Adapter,
  filter: RunConditions,
  { limit, visit, onUnread, signal }: Visits,
): Promise<boolean> {
  let before: string | undefined
  for (let left = limit; ; left -= PAGE) {
    // Reads one run more than wanted, to know whether there are more.
    const wanted = Math.min(PAGE, left)
    const unread = new Map<string, unknown>()
    const onRefused = ({ runId, error }: RefusedRow) => void unread.set(runId, error)
    const read = await adapter.listRuns({ ...filter, before, limit: wanted + 1, onRefused })
    const found = [...read.map(({ runId }) => runId), ...unread.keys()].sort().reverse()
    const page = new Set(found.slice(0, wanted))
    await visit(read.filter(({ runId }) => page.has(runId)))
    for (const [runId, error] of unread) if (page.has(runId)) onUnread(runId, error)
    if (signal?.aborted === true) return true
    if (found.length <= wanted) return false
    if (left <= PAGE) return true
    before = found[wanted - 1]
  }
}

/** Visits runs in the order of the list, each only once. */
async function eachPageOfList(
  adapter: Adapter,
  lookups: readonly RunLookup[],
  { limit, visit, onUnknown, onUnread, signal }: Visits,
): Promise<boolean> {
  const visited = new Set<string>()
  const wanted = lookups.slice(0, limit)
  for (let first = 0; first < wanted.length; first += PAGE) {
    const part = wanted.slice(first, first + PAGE)
    const runIds: (string | undefined)[] = []
    for (const lookup of part) {
      runIds.push(await runIdOf(adapter, lookup))
    }
    const { runs, unread } = await readStatusesOf(
      adapter,
      runIds.filter((runId) => runId !== undefined),
    )
    const page = part.flatMap((lookup, index) => {
      const runId = runIds[index] ?? ''
      const run = runs.get(runId)
      if (unread.has(runId)) return []
      if (run === undefined) onUnknown(lookup)
      if (run === undefined || visited.has(run.runId)) return []
      visited.add(run.runId)
      return [run]
    })
    await visit(page)
    for (const [runId, error] of unread) if (!visited.has(runId)) onUnread(runId, error)
    for (const runId of unread.keys()) visited.add(runId)
    if (signal?.aborted === true) return true
  }
  return lookups.length > limit
}

/** One that cannot be read keeps no others. */
async function readStatusesOf(adapter: Adapter, runIds: readonly string[]) {
  const runs = new Map<string, SelectedRun>()
  const unread = new Map<string, unknown>()
  await sendApart([...new Set(runIds)], {
    send: async (part) => {
      for (const run of await adapter.readStatuses(part)) runs.set(run.runId, run)
    },
    refused: (runId, error) => void unread.set(runId, error),
    heldUp: (_, error) => {
      throw error
    },
    unanswered: (_, error) => {
      throw error
    },
  })
  return { runs, unread }
}

/** Asks the store only if the id alone does not identify the run. */
async function runIdOf(adapter: Adapter, lookup: RunLookup): Promise<string | undefined> {
  if ('runId' in lookup && lookup.workflow === undefined) return lookup.runId
  const found = await adapter.findRun(lookup)
  return found !== null && isNamedBy(lookup, found) ? found.runId : undefined
}
