import type { NewValue, Published, PublishRequest } from '@belay/workflow/adapter'
import { batchesBySize } from '../base/batches.ts'
import { refusalOf } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { isHeartbeatKey } from '../rows/heartbeat-keys.ts'
import { stepIs } from '../rows/step-lookup.ts'

/** The key under which a step's progress is stored: a value of a run never has it. */
const PROGRESS = ''

/**
 * Stores values that attempts tell. Guarantee: an attempt that no longer holds its step changes nothing, and no value replaces a newer one of its
 * step. Of a key, each step has a row of its own, so steps never wait for each other. Two statements that give one run its first values at the same
 * moment count its keys apart, and may together exceed the limit. Index: primary keys. Locks: own steps by (run, step), shared, then their values;
 * both skipping locked ones.
 */
export const publishValues: Statement<{ readonly result: Extract<Published, string> }> = {
  name: 'publish_values',
  text: `
with given_values as materialized (
  select g.run_id, g.step, g.fence, g.key, g.sequence, g.age_ms, g.value, g.place, $1::uuid as worker_id,
    array['running', 'compensating'] as leased_statuses, $9::int as keys_max
  from unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $6::int[], $7::float8[], $8::text[]) with ordinality
    as g (run_id, step, fence, key, sequence, age_ms, value, place)
  order by g.run_id, g.step, g.place
),
held_values as materialized (
  select g.place
  from given_values g
  join belay.workflow_steps s on s.run_id = any (array[g.run_id]) and ${stepIs('s', 'g.step')}
  where s.fence = any (array[g.fence]) and s.worker_id = any (array[g.worker_id]) and s.status = any (g.leased_statuses)
),
leased_values as materialized (
  select g.run_id, g.step, g.fence, g.key, g.sequence, g.age_ms, g.value, g.place, g.keys_max,
    case when s.undo_of is null then s.started_at else s.undo_started_at end as started_at
  from given_values g
  join belay.workflow_steps s on s.run_id = any (array[g.run_id]) and ${stepIs('s', 'g.step')}
  where s.fence = any (array[g.fence]) and s.worker_id = any (array[g.worker_id]) and s.status = any (g.leased_statuses)
  order by g.run_id, g.step
  for share of s skip locked
),
-- An upsert would wait for a row that somebody has locked, and with it the values of all other runs.
replaceable_values as materialized (
  select l.place
  from leased_values l
  join belay.workflow_values v on v.run_id = any (array[l.run_id]) and ${stepIs('v', 'l.step')} and v.key = any (array[l.key])
  for update of v skip locked
),
locked_values as materialized (
  select l.run_id, l.step, l.fence, l.key, l.sequence, l.age_ms, l.value, l.place, l.keys_max, l.started_at
  from leased_values l
  where l.place in (select r.place from replaceable_values r)
    or not exists (
      select from belay.workflow_values v
      where v.run_id = any (array[l.run_id]) and ${stepIs('v', 'l.step')} and v.key = any (array[l.key])
    )
),
keyed_values as materialized (
  select l.run_id, l.step, l.fence, l.key, l.sequence, l.age_ms, l.value, l.place, l.keys_max, l.started_at,
    l.key = '${PROGRESS}' or ${isHeartbeatKey('l.key')} or exists (
      select from belay.workflow_values v where v.run_id = any (array[l.run_id]) and v.key = any (array[l.key])
    ) as is_known,
    (
      select count(distinct v.key) from belay.workflow_values v
      where v.run_id = any (array[l.run_id]) and v.key <> '${PROGRESS}' and not ${isHeartbeatKey('v.key')}
    ) as known_keys
  from locked_values l
),
placed_values as materialized (
  select k.run_id, k.step, k.fence, k.key, k.sequence, k.age_ms, k.value, k.place, k.keys_max, k.started_at, k.is_known, k.known_keys,
    min(k.place) over (partition by k.run_id, k.is_known, k.key) as key_place
  from keyed_values k
),
counted_values as materialized (
  select p.run_id, p.step, p.fence, p.key, p.sequence, p.age_ms, p.value, p.place, p.started_at,
    -- New keys are counted in the order in which they are given.
    not p.is_known
      and p.known_keys + dense_rank() over (partition by p.run_id, p.is_known order by p.key_place) > p.keys_max as is_too_many
  from placed_values p
),
stored_values as (
  insert into belay.workflow_values as v (run_id, step, fence, sequence, at, key, value)
  select distinct on (c.run_id, c.step, c.key) c.run_id, c.step, c.fence, c.sequence,
    -- Never before the attempt began: a clock that was set must not put a value behind one of an earlier step.
    greatest(belay.store_clock() - c.age_ms * interval '1 millisecond', c.started_at), c.key, c.value::json
  from counted_values c
  where not c.is_too_many
  order by c.run_id, c.step, c.key, c.fence desc, c.sequence desc
  on conflict (run_id, step, key) do update
  set fence = excluded.fence, sequence = excluded.sequence, at = excluded.at, value = excluded.value
  where (v.fence, v.sequence) < (excluded.fence, excluded.sequence)
),
found_values as (
  select g.place, 0 as found from given_values g
  union all
  select h.place, 1 from held_values h
  union all
  select c.place, case when c.is_too_many then 2 else 3 end from counted_values c
)
select (array['lost', 'busy', 'too_many', 'stored'])[max(f.found) + 1] as result
from found_values f
group by f.place
order by f.place`,
}

export async function publish(
  connection: Connection,
  request: PublishRequest,
): Promise<readonly Published[]> {
  const batches = batchesBySize(request.values, ({ value }) => value.length)
  const results: Published[] = []
  for (const values of batches) results.push(...(await publishBatch(connection, { ...request, values })))
  return results
}

/** A value that the database refuses is found by storing each value of its batch alone: storing one twice changes nothing. */
async function publishBatch(connection: Connection, request: PublishRequest): Promise<readonly Published[]> {
  try {
    return await publishWithin(connection, request)
  } catch (error) {
    const refused = refusalOf(error)
    if (refused === null) throw error
    if (request.values.length === 1) return [{ refused }]
    const results: Published[] = []
    for (const value of request.values) {
      results.push(...(await publishBatch(connection, { ...request, values: [value] })))
    }
    return results
  }
}

/** One statement, which may be part of a transaction: throws if the database refuses a value. */
export async function publishWithin(
  connection: Connection,
  { workerId, values, keysMax }: PublishRequest,
): Promise<readonly Published[]> {
  const rows = await connection.query(publishValues, [
    workerId,
    ...columnsOf(values),
    // The count of keys is an int.
    Math.min(keysMax, 2 ** 31 - 1),
  ])
  return rows.map(({ result }) => result)
}

function columnsOf(values: readonly NewValue[]): readonly unknown[] {
  return [
    values.map(({ runId }) => runId),
    values.map(({ step }) => step),
    values.map(({ fence }) => fence),
    values.map(({ key }) => key ?? PROGRESS),
    values.map(({ sequence }) => sequence),
    values.map(({ ageMs }) => ageMs),
    values.map(({ value }) => value),
  ]
}
