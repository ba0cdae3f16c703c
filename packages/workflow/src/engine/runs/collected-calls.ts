import type { Adapter, CollectedCalls, RunRecord } from '../../adapter/index.ts'

/** The calls that a run carries, as users see them. */
export interface RunCalls {
  /** What `start.key` gave for them; undefined if the workflow has none. */
  readonly key: string | undefined
  readonly calls: number
  /** Whether further calls with this key would still join the run. */
  readonly collecting: boolean
}

/** The calls that a run carries; null for a run that was started by one call of its own. Such runs cost no question unless they had a start time. */
export async function collectedOf(
  adapter: Pick<Adapter, 'readCollected'>,
  { runId, startAt, key, parent }: RunRecord,
): Promise<CollectedCalls | null> {
  // Collected runs have a start time and no key, and are nobody's child.
  return startAt === null || key !== null || parent !== null ? null : adapter.readCollected(runId)
}

/** The same for a snapshot; empty for a run that carries none. */
export async function callsOf(
  adapter: Pick<Adapter, 'readCollected'>,
  run: RunRecord,
): Promise<{ readonly collected?: RunCalls }> {
  const found = await collectedOf(adapter, run)
  if (found === null) return {}
  const { key, calls, collecting } = found
  return { collected: { key: key === '' ? undefined : key, calls, collecting } }
}
