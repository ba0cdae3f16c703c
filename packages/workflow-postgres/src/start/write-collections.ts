import { CALL_IDS_MAX, type Collection, type Gathered } from '@belay/workflow/adapter'
import { batchesBySize } from '../base/batches.ts'
import { passingLockWait, restoredLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import type { Statement } from '../connection/statement.ts'
import { notedLate, placeAt } from '../rows/queue-place.ts'
import { runIs } from '../rows/run-statuses.ts'
import { stepIs } from '../rows/step-lookup.ts'
import type { CollectKey } from './lock-collections.ts'

/**
 * Changes runs that have not begun: their input, tags and times. Guarantee: a claim has either all of the change or none, because the first steps get
 * higher fences and other hints in the queue; nothing is changed of a run that has begun. Index: primary keys, the definition's edges, and the queue by
 * (definition, available_at). Locks: nothing that this transaction has not locked before; queue rows skipping locked ones, whose fence is stale.
 */
export const changeCollectingRuns: Statement<{ readonly changed: number }> = {
  name: 'change_collecting_runs',
  text: `
with changes as materialized (
  select c.run_id, c.definition_id, c.input, c.items, c.keeps_input, c.tags,
    timestamptz 'epoch' + c.due_ms * interval '1 millisecond' as due_at
  from unnest($1::uuid[], $2::int[], $3::float8[], $4::text[], $5::text[], $6::bool[], $7::text[])
    as c (run_id, definition_id, due_ms, input, items, keeps_input, tags)
),
first_places as materialized (
  select c.run_id, c.definition_id, c.due_at, ds.step
  from changes c
  join belay.workflow_definition_steps ds on ds.definition_id = any (array[c.definition_id])
  where cardinality(ds.dependencies) = 0
),
old_hints as materialized (
  select q.ctid as row_at
  from first_places p
  join belay.workflow_steps s on s.run_id = any (array[p.run_id]) and ${stepIs('s', 'p.step')}
  join belay.workflow_ready q on q.definition_id = any (array[p.definition_id]) and q.available_at = any (array[s.available_at])
    and q.run_id = any (array[p.run_id]) and ${stepIs('q', 'p.step')}
  for update of q skip locked
),
dequeued_rows as (
  delete from belay.workflow_ready q where q.ctid = any (array(select o.row_at from old_hints o))
),
moved_steps as (
  update belay.workflow_steps s
  set fence = s.fence + 1, available_at = p.due_at
  from first_places p
  where s.run_id = any (array[p.run_id]) and ${stepIs('s', 'p.step')}
    and s.status = 'ready' and s.open_dependencies = 0 and s.started_at is null
  returning s.run_id, s.step, s.fence, s.priority, p.definition_id, p.due_at
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeAt('m.due_at', 'coalesce(m.priority, 0)')}, m.definition_id, m.step, m.fence, m.run_id from moved_steps m
),
${notedLate('moved_steps', 'q.due_at', 'coalesce(q.priority, 0)')},
changed_runs as (
  update belay.workflow_runs r
  set start_at = c.due_at, deadline_at = r.deadline_at + (c.due_at - r.start_at), tags = c.tags::text[],
    -- The text of a json column is as it was written: an array without a space before its end.
    input = case when not c.keeps_input then c.input::json
      when c.items is null then r.input
      else (left(r.input::text, -1) || ',' || c.items || ']')::json end
  from changes c
  where r.id = any (array[c.run_id]) and ${runIs('r', `'running'`)} and r.definition_id = any (array[c.definition_id])
  returning r.id
)
select (select count(*) from changed_runs)::int as changed`,
}

/**
 * Keeps the newest run of each key, and where each call is. Of runs that are no batches, ids of old calls are dropped. Index: primary keys. Locks: the
 * keys, which this transaction has locked before. Waits, for a bounded time, for a transaction that stores a call with the same id.
 */
export const writeCollections: Statement<{ readonly added: number }> = {
  name: 'write_collections',
  text: `
with ${passingLockWait('$17')},
collections as materialized (
  select c.*
  from unnest($1::int[], $2::text[], $3::uuid[], $4::text[], $5::float8[], $6::float8[], $7::float8[], $8::int[], $9::int[])
    as c (definition_id, key, run_id, mode, opened_ms, due_ms, closes_ms, calls, input_bytes)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
),
kept_collections as (
  update belay.workflow_collections k
  set run_id = c.run_id, mode = c.mode, calls = c.calls, input_bytes = c.input_bytes,
    opened_at = timestamptz 'epoch' + c.opened_ms * interval '1 millisecond',
    due_at = timestamptz 'epoch' + c.due_ms * interval '1 millisecond',
    closes_at = timestamptz 'epoch' + c.closes_ms * interval '1 millisecond'
  from collections c
  where k.definition_id = any (array[c.definition_id]) and k.key = any (array[c.key])
),
dropped_calls as (
  delete from belay.workflow_collected_calls k
  using collections c
  where c.mode <> 'batch' and k.run_id = any (array[c.run_id]) and k.position <= c.calls - $10::int
),
-- Another transaction may be storing the same call under another key.
added_calls as (
  insert into belay.workflow_collected_calls (run_id, position, definition_id, call_id, key, input_hash)
  select k.run_id, k.position, k.definition_id, k.call_id, k.key, k.input_hash
  from unnest($11::uuid[], $12::int[], $13::int[], $14::uuid[], $15::text[], $16::text[])
    as k (run_id, position, definition_id, call_id, key, input_hash)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  returning position
),
${restoredLockWait('added_calls')}
select count(*)::int as added from added_calls cross join restored_wait`,
}

/** What was decided for one key. */
export interface GatheredKey extends CollectKey {
  readonly gathered: Gathered
}

/** Writes what was decided, except new runs, which are there already. */
export async function writeGathered(
  connection: Connection,
  keys: readonly GatheredKey[],
  waits: string,
): Promise<void> {
  const changes = keys.flatMap(({ definitionId, gathered }) =>
    gathered.changed.map((change) => ({ ...change, definitionId })),
  )
  for (const part of batchesBySize(changes, ({ input, items = [] }) => (input?.text ?? items.join()).length))
    await changeRuns(connection, part)
  const places = keys.flatMap(({ gathered }) => gathered.places)
  await connection.query(writeCollections, [
    ...collectionColumns(keys),
    CALL_IDS_MAX,
    places.map(({ runId }) => runId),
    places.map(({ position }) => position),
    places.map(({ call }) => call.definitionId),
    places.map(({ call }) => call.callId),
    places.map(({ call }) => call.collectKey),
    places.map(({ call }) => call.inputHash ?? null),
    waits,
  ])
}

function collectionColumns(keys: readonly GatheredKey[]): readonly unknown[] {
  const column = (read: (collection: Collection) => unknown) =>
    keys.map(({ gathered }) => read(gathered.collection))
  return [
    keys.map(({ definitionId }) => definitionId),
    keys.map(({ key }) => key),
    column(({ runId }) => runId),
    column(({ mode }) => mode),
    column(({ openedAt }) => openedAt),
    column(({ dueAt }) => dueAt),
    column(({ closesAt }) => closesAt),
    column(({ calls }) => calls),
    column(({ inputBytes }) => inputBytes),
  ]
}

async function changeRuns(
  connection: Connection,
  changes: readonly (Gathered['changed'][number] & { readonly definitionId: number })[],
): Promise<void> {
  const [row] = await connection.query(changeCollectingRuns, [
    changes.map(({ runId }) => runId),
    changes.map(({ definitionId }) => definitionId),
    changes.map(({ dueAt }) => dueAt),
    changes.map(({ input }) => input?.text ?? null),
    changes.map(({ items = [] }) => (items.length === 0 ? null : items.join())),
    changes.map(({ input }) => input === undefined),
    changes.map(({ tags }) => (tags.length === 0 ? null : listText(tags))),
  ])
  if (row?.changed === changes.length) return
  throw new Error(
    `Of ${changes.length} runs that collect calls, ${row?.changed} were changed under their locks.`,
  )
}
