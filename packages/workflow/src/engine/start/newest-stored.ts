import { holdsLease } from '../../adapter/holds-lease.ts'
import type { Adapter, SavedDefinition, WorkerRecord } from '../../adapter/index.ts'

/**
 * The definition that a process without the workflow starts: the highest stored version. Numbers of derived versions say nothing of their age, so if
 * the highest is one, that which the newest live worker has. Null if there is none.
 */
export async function newestStored(
  adapter: Adapter,
  name: string,
  tx?: unknown,
): Promise<SavedDefinition | null> {
  const highest = await adapter.findDefinition({ name }, { tx })
  // Within a transaction nothing may wait for another connection.
  if (highest?.shape.derivedFrom === undefined || tx !== undefined) return highest
  const [workers, now] = await Promise.all([adapter.listWorkers(), adapter.now()])
  const live = workers.filter((worker) => holdsLease(worker, now))
  const versions = live.sort(byStart).map(({ workflows }) => versionsOf(workflows, name))
  const version = versions.find(({ length }) => length > 0)?.at(-1)
  return version === undefined ? highest : adapter.findDefinition({ name, version })
}

/** The newest first. */
function byStart(one: WorkerRecord, other: WorkerRecord): number {
  return (other.startedAt ?? 0) - (one.startedAt ?? 0)
}

/** Ascending. */
function versionsOf(workflows: WorkerRecord['workflows'], name: string): readonly number[] {
  const named = (workflows ?? []).filter((workflow) => workflow.name === name)
  return named.map(({ version }) => version).sort((one, other) => one - other)
}
