import type { CollectedCalls, Collection, CollectMode, LockedCollection } from '@belay/workflow/adapter'
import { passingLockWait, restoredLockWait } from '../base/lock-wait.ts'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { tagsOf } from '../rows/run-tags.ts'
import { stepIs } from '../rows/step-lookup.ts'
import type { CollectKey } from './lock-collections.ts'

interface CollectionColumns {
  readonly run_id: string | null
  readonly mode: CollectMode | null
  readonly opened_at: number
  readonly due_at: number
  readonly closes_at: number
  readonly calls: number
  readonly input_bytes: number
  readonly takes_calls: boolean
  readonly tags: string | null
  readonly now: number
}

/** What no step has that was ever claimed, skipped or held back by a pause. */
const untouched = `s.status = 'ready' and s.open_dependencies = 0 and s.started_at is null and coalesce(s.attempts, 0) = 0`

/**
 * The collections of keys that this transaction has locked, and whether their runs take calls. Guarantee: a run that takes calls has not begun, and
 * cannot begin before this transaction ends. Index: primary keys, and the definition's edges. Locks: the first steps of the runs that are not due yet, by
 * (run, step), then these runs.
 */
export const readCollections: Statement<CollectionColumns> = {
  name: 'read_collections',
  text: `
with ${passingLockWait('$3')},
collections as materialized (
  select a.position, c.*, array[c.run_id] as run_ids, c.due_at > belay.store_now() as is_waiting
  from unnest($1::int[], $2::text[]) with ordinality as a (definition_id, key, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  join belay.workflow_collections c on c.definition_id = any (array[a.definition_id]) and c.key = any (array[a.key])
),
first_places as materialized (
  select c.run_ids, ds.step
  from collections c
  join belay.workflow_definition_steps ds on ds.definition_id = any (array[c.definition_id])
  where c.is_waiting and cardinality(ds.dependencies) = 0
),
locked_steps as materialized (
  select s.run_id, ${untouched} as is_untouched
  from first_places p
  join belay.workflow_steps s on s.run_id = any (p.run_ids) and ${stepIs('s', 'p.step')}
  order by s.run_id, s.step
  for update of s
),
locked_runs as materialized (
  select r.id, r.definition_id, r.status, r.tags
  from (select count(*) from locked_steps) as steps_were_locked
  cross join collections c
  join belay.workflow_runs r on r.id = any (c.run_ids)
  where c.is_waiting
  order by r.id
  for update of r
),
untouched_runs as materialized (
  select l.run_id, bool_and(l.is_untouched) as is_untouched from locked_steps l group by l.run_id
),
${restoredLockWait('locked_runs')}
select c.run_id, c.mode, ${epochMs('c.opened_at')} as opened_at, ${epochMs('c.due_at')} as due_at, ${epochMs('c.closes_at')} as closes_at,
  c.calls, c.input_bytes, coalesce(u.is_untouched and r.status = 'running' and r.definition_id = c.definition_id, false) as takes_calls,
  array_to_json(r.tags)::text as tags, ${epochMs('belay.store_now()')} as now
from collections c
left join untouched_runs u on u.run_id = c.run_id
left join locked_runs r on r.id = c.run_id
cross join restored_wait
order by c.position`,
}

/** Locks what may change, and reads it. In the order of the keys; null for a key without a collection. */
export async function lockedCollections(
  connection: Connection,
  keys: readonly CollectKey[],
  waits: string,
): Promise<{ readonly now: number; readonly collections: readonly (LockedCollection | null)[] }> {
  const rows = await connection.query(readCollections, [
    keys.map(({ definitionId }) => definitionId),
    keys.map(({ key }) => key),
    waits,
  ])
  return { now: rows[0]!.now, collections: rows.map(decode) }
}

function decode(row: CollectionColumns): LockedCollection | null {
  const { run_id: runId, mode } = row
  if (runId === null || mode === null) return null
  const collection: Collection = {
    ...{ runId, mode, openedAt: row.opened_at, dueAt: row.due_at, closesAt: row.closes_at },
    ...{ calls: row.calls, inputBytes: row.input_bytes },
  }
  return { ...collection, takesCalls: row.takes_calls, tags: tagsOf(row.tags) }
}

/** The calls that a run carries. Index: primary keys, and the definition's edges. No locks. */
export const readCollectedCalls: Statement<CollectedCalls> = {
  name: 'read_collected_calls',
  text: `
select newest.key, newest.position as calls,
  coalesce(c.run_id = r.id and c.due_at > belay.store_now() and r.status = 'running' and r.definition_id = c.definition_id
    and not exists (
      select from belay.workflow_definition_steps ds
      join belay.workflow_steps s on s.run_id = any (array[r.id]) and ${stepIs('s', 'ds.step')}
      where ds.definition_id = any (array[r.definition_id]) and cardinality(ds.dependencies) = 0 and not (${untouched})
    ), false) as collecting
from belay.workflow_runs r
cross join lateral (
  select k.definition_id, k.key, k.position from belay.workflow_collected_calls k where k.run_id = any (array[r.id])
  order by k.position desc limit 1
) newest
left join belay.workflow_collections c on c.definition_id = any (array[newest.definition_id]) and c.key = any (array[newest.key])
where r.id = $1::uuid`,
}

export async function readCollected(connection: Connection, runId: string): Promise<CollectedCalls | null> {
  if (!isUuid(runId)) return null
  const [found] = await connection.query(readCollectedCalls, [runId])
  return found ?? null
}

function epochMs(instant: string): string {
  return `(extract(epoch from ${instant}) * 1000)::float8`
}
