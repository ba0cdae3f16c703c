import type { CollectedCalls, Collection, CollectMode, LockedCollection } from '@belay/workflow/adapter'
import { passingLockWait, restoredLockWait } from '../base/lock-wait.ts'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { tagsOf } from '../rows/run-tags.ts'
import { stepIs } from '../rows/step-lookup.ts'
import type { CollectKey } from './lock-collections.ts'

/** One of three kinds of rows: a key's collection, or a locked run, or what is known of the first steps of such a run. */
type CollectionRow =
  | {
      readonly kind: 'collection'
      readonly position: number
      readonly run_id: string | null
      readonly definition_id: number
      readonly mode: CollectMode | null
      readonly opened_at: number
      readonly due_at: number
      readonly closes_at: number
      readonly calls: number
      readonly input_bytes: number
      readonly now: number
    }
  | { readonly kind: 'steps'; readonly run_id: string; readonly is_open: boolean }
  | {
      readonly kind: 'run'
      readonly run_id: string
      readonly definition_id: number
      readonly is_open: boolean
      readonly tags: string | null
    }

/** What no step has that was ever claimed, skipped or held back by a pause. */
const untouched = `s.status = 'ready' and s.open_dependencies = 0 and s.started_at is null and coalesce(s.attempts, 0) = 0`

/**
 * The collections of keys that this transaction has locked, and whether their runs take calls. Guarantee: a run that takes calls has not begun, and
 * cannot begin before this transaction ends. Index: primary keys, and the definition's edges. Locks: the first steps of the runs that are not due yet, by
 * (run, step), then these runs.
 */
export const readCollections: Statement<CollectionRow> = {
  name: 'read_collections',
  text: `
with ${passingLockWait('$3')},
collections as materialized (
  select a.position, c.*, c.due_at > belay.store_now() as is_waiting
  from unnest($1::int[], $2::text[]) with ordinality as a (definition_id, key, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  join belay.workflow_collections c on c.definition_id = any (array[a.definition_id]) and c.key = any (array[a.key])
),
first_places as materialized (
  select c.run_id, ds.step
  from collections c
  join belay.workflow_definition_steps ds on ds.definition_id = any (array[c.definition_id])
  where c.is_waiting and cardinality(ds.dependencies) = 0
),
locked_steps as materialized (
  select s.run_id, ${untouched} as is_untouched
  from first_places p
  join belay.workflow_steps s on s.run_id = any (array[p.run_id]) and ${stepIs('s', 'p.step')}
  order by p.run_id, p.step
  for no key update of s
),
locked_runs as materialized (
  select r.id, r.definition_id, r.status, r.tags
  from (select count(*) from locked_steps) as steps_were_locked
  cross join collections c
  join belay.workflow_runs r on r.id = any (array[c.run_id])
  where c.is_waiting
  order by c.run_id
  for no key update of r
),
${restoredLockWait('locked_runs')}
select 'collection' as kind, c.position::int, c.run_id, c.definition_id, c.mode, ${epochMs('c.opened_at')} as opened_at, ${epochMs('c.due_at')} as due_at,
  ${epochMs('c.closes_at')} as closes_at, c.calls, c.input_bytes, ${epochMs('belay.store_now()')} as now, null::bool as is_open, null as tags
from collections c
cross join restored_wait
union all
select 'steps', null, l.run_id, null, null, null, null, null, null, null, null, bool_and(l.is_untouched), null
from locked_steps l
group by l.run_id
union all
select 'run', null, r.id, r.definition_id, null, null, null, null, null, null, null, r.status = 'running', array_to_json(r.tags)::text
from locked_runs r`,
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
  const collections = rows.filter((row) => row.kind === 'collection')
  collections.sort((one, other) => one.position - other.position)
  const runs = new Map(rows.flatMap((row) => (row.kind === 'run' ? [[row.run_id, row] as const] : [])))
  const untouched = new Set(rows.flatMap((row) => (row.kind === 'steps' && row.is_open ? [row.run_id] : [])))
  const decode = (row: (typeof collections)[number]): LockedCollection | null => {
    const { run_id: runId, mode, definition_id: definitionId } = row
    if (runId === null || mode === null) return null
    const run = runs.get(runId)
    const takesCalls = run?.is_open === true && run.definition_id === definitionId && untouched.has(runId)
    const collection: Collection = {
      ...{ runId, mode, openedAt: row.opened_at, dueAt: row.due_at, closesAt: row.closes_at },
      ...{ calls: row.calls, inputBytes: row.input_bytes },
    }
    return { ...collection, takesCalls, tags: tagsOf(run?.tags ?? null) }
  }
  return { now: collections[0]!.now, collections: collections.map(decode) }
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
