import type { Adapter, DeclaredLimit } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { storeMissing } from './schedules/declared.ts'
import type { DeclaredSchedule } from './schedules/schedule-options.ts'
import type { SchedulesParts } from './schedules/schedule-parts.ts'

/**
 * Stores the limits and schedules that the store lacks, as after a failover that lost them. Those that are there stay: another process may have declared
 * them later.
 */
export async function restoreMissing(
  parts: Omit<SchedulesParts, 'onStarted' | 'onCancelled'>,
  {
    limits,
    schedules = [],
  }: {
    readonly limits: readonly DeclaredLimit[]
    readonly schedules?: readonly DeclaredSchedule[] | undefined
  },
): Promise<void> {
  if (limits.length > 0) {
    const stored = await parts.adapter.readLimits(
      limits.map(({ name }) => name),
      { uncounted: true },
    )
    const known = new Set(stored.flatMap(({ name, declared }) => (declared === null ? [] : [name])))
    const missing = limits.filter(({ name }) => !known.has(name))
    if (missing.length > 0) await parts.adapter.declareLimits(missing)
  }
  if (schedules.length > 0) await storeMissing(parts, schedules)
}

/** The names of those of these definitions, by the store's number, that the store does not have under it. */
export async function lostDefinitions(
  adapter: Adapter,
  definitions: ReadonlyMap<number, WorkflowDefinition>,
): Promise<readonly string[]> {
  const found = await adapter.readDefinitions([...definitions.keys()])
  const stored = new Map(found.map(({ id, name, checksum }) => [id, `${name}#${checksum}`]))
  return [...definitions].flatMap(([id, { record }]) =>
    stored.get(id) === `${record.name}#${record.checksum}`
      ? []
      : [`"${record.name}" version ${record.version}`],
  )
}
