import { type Delivery, type JsonText, type NewSignal, refusedSignals } from '@belay/workflow/adapter'
import { refusalOf } from '../base/errors.ts'
import { contended, lockWait, passingLockWait, restoredLockWait } from '../base/lock-wait.ts'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { forgottenHints, leadOf, placeNow } from '../rows/queue-place.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Delivers signals to steps. Guarantee: the signal's record, the step's output and its queue row commit together. A step takes one signal, the first.
 * The queue row of its timeout goes in the same commit. A running step's settlement reads the signal from the row that this statement locks. Index: primary keys. Locks: steps by (run, step), then their
 * runs (shared).
 */
export const deliverSignalsStatement: Statement<{
  readonly position: number
  readonly result: 'delivered' | 'kept'
}> = {
  name: 'deliver_signals',
  text: `
with ${passingLockWait('$7')},
sent_signals as materialized (
  -- A step takes one signal: the first, if one call has several.
  select distinct on (n.run_id, n.step) n.run_id, n.step, n.definition_id, n.key, n.actor, n.payload, n.payload_hash, n.position,
    array['pending', 'ready', 'running', 'waiting'] as open_statuses
  from unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::text[], $6::text[], $8::text[])
    with ordinality as n (run_id, step, definition_id, key, actor, payload, payload_hash, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by n.run_id, n.step, n.position
),
locked_steps as materialized (
  select n.run_id, n.step, n.definition_id, n.key, n.actor, n.payload, n.payload_hash, n.position, s.status, s.fence, s.signalled_at, s.available_at,
    -- It was claimed because its time had come: the outcome of its timeout is being recorded.
    s.status = 'running' and s.waiting_since is not null and s.available_at <= belay.store_now() as timed_out
  from sent_signals n
  join belay.workflow_steps s on s.run_id = any (array[n.run_id]) and ${stepIs('s', 'n.step')}
  where s.status = any (n.open_statuses)
  order by n.run_id, n.step
  for no key update of s
),
-- Locked (shared), so its current version is read: during the wait for a step, its run may have moved to a definition that renumbers the step.
signalled_runs as materialized (
  select l.run_id from locked_steps l group by l.run_id order by l.run_id
),
current_runs as materialized (
  select r.id, r.definition_id, r.status, r.stop
  from signalled_runs s
  join belay.workflow_runs r on r.id = any (array[s.run_id])
  order by s.run_id
  for share of r
),
taken_signals as materialized (
  select l.run_id, l.step, l.definition_id, l.key, l.actor, l.payload, l.payload_hash, l.position, l.fence, l.available_at,
    l.status = 'waiting' as delivered
  from locked_steps l
  join current_runs r on r.id = any (array[l.run_id])
  where l.signalled_at is null and l.timed_out is not true
    and r.definition_id = any (array[l.definition_id])
    -- A paused run may have been stopped.
    and r.stop is null and r.status = any (case when l.run_id is not null then array[${forwardStatuses}] end)
  order by l.run_id, l.step
),
recorded_signals as (
  insert into belay.workflow_signals (run_id, step, received_at, key, payload_hash, actor, payload)
  select t.run_id, t.step, belay.store_now(), t.key, t.payload_hash, t.actor, t.payload::json
  from taken_signals t
  order by t.run_id, t.step
),
signalled_steps as (
  update belay.workflow_steps s
  set signalled_at = belay.store_now(), output = t.payload::json,
    status = case when t.delivered then 'ready' else s.status end,
    available_at = case when not t.delivered then s.available_at end,
    -- A waiting step has no worker anyway. But if Postgres finds the row outdated, it checks constraints on the old version before it reads the new
    -- one.
    worker_id = case when not t.delivered then s.worker_id end
  from taken_signals t
  where s.run_id = any (array[t.run_id]) and ${stepIs('s', 't.step')}
  returning t.run_id, t.step, t.definition_id, t.fence, t.delivered, t.position, s.undo_of, s.priority
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(leadOf('s'))}, s.definition_id, s.step, s.fence, s.run_id
  from signalled_steps s
  where s.delivered
),
${forgottenHints('taken_signals f', 'case when f.delivered then f.definition_id end')},
${restoredLockWait('signalled_steps')}
select s.position::int as position, case when s.delivered then 'delivered' else 'kept' end as result
from signalled_steps s
union all
select null, null from restored_wait w where w.lock_timeout is null`,
}

/**
 * Why signals were not taken. Index: primary keys. No locks. Runs after the delivery, with a fresh snapshot: the delivery could not see what was
 * committed while it waited for a lock.
 */
export const readRefusedSignals: Statement<{
  readonly position: number
  readonly is_recorded: boolean
  readonly is_signalled: boolean
  readonly goes_forward: boolean
  readonly is_running: boolean
  readonly recorded: JsonText
  readonly payload_hash: string | null
}> = {
  name: 'read_refused_signals',
  text: `
select n.position::int as position,
  coalesce(g.key = n.key, exists (
    select from belay.workflow_signals past where past.run_id = n.run_id and past.step = n.step and past.key = n.key
  )) as is_recorded, g.payload_hash,
  s.signalled_at is not null as is_signalled,
  r.stop is null and r.status in (${forwardStatuses}) as goes_forward,
  s.status = 'running' as is_running,
  case when s.signalled_at is not null then s.output::text end as recorded
from unnest($1::uuid[], $2::int[], $3::int[], $4::text[])
  with ordinality as n (run_id, step, definition_id, key, position)
join belay.workflow_runs r on r.id = any (array[n.run_id])
join belay.workflow_steps s on s.run_id = any (array[n.run_id]) and ${stepIs('s', 'n.step')}
-- The signal that the step has. If it has none and takes none any more, a superseded signal shows that the key was recorded.
left join lateral (
  select present.key, present.payload_hash
  from belay.workflow_signals present
  where present.run_id = n.run_id and present.step = n.step and present.superseded = 0
  limit 1
) g on true
where r.definition_id = any (array[n.definition_id])`,
}

export async function deliverSignals(
  connection: Connection,
  signals: readonly NewSignal[],
): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = signals.map(() => ({ result: 'unknown' }))
  const possible = signals.flatMap((signal, index) => (isUuid(signal.runId) ? [index] : []))
  const taken = await take(connection, signals, possible)
  for (const { index, result } of taken) deliveries[index] = { result }
  const refused = possible.filter((index) => deliveries[index]!.result === 'unknown')
  for (const { index, delivery } of await explain(connection, signals, refused)) deliveries[index] = delivery
  return deliveries
}

async function take(connection: Connection, signals: readonly NewSignal[], indexes: readonly number[]) {
  if (indexes.length === 0) return []
  const sent = indexes.map((index) => signals[index]!)
  const rows = await connection
    .query(deliverSignalsStatement, [
      sent.map((signal) => signal.runId),
      sent.map((signal) => signal.step),
      sent.map((signal) => signal.definitionId),
      sent.map((signal) => signal.key),
      sent.map((signal) => signal.actor),
      sent.map((signal) => signal.payload),
      lockWait(sent.length),
      sent.map((signal) => signal.payloadHash ?? null),
    ])
    .catch((cause: unknown) => {
      const refusal = refusalOf(cause)
      if (refusal === null) throw contended(cause, [...new Set(sent.map(({ runId }) => runId))])
      throw refusedSignals(sent, refusal, cause)
    })
  return rows.map(({ position, result }) => ({ index: indexes[position - 1]!, result }))
}

async function explain(connection: Connection, signals: readonly NewSignal[], indexes: readonly number[]) {
  if (indexes.length === 0) return []
  const sent = indexes.map((index) => signals[index]!)
  const rows = await connection.query(readRefusedSignals, [
    sent.map((signal) => signal.runId),
    sent.map((signal) => signal.step),
    sent.map((signal) => signal.definitionId),
    sent.map((signal) => signal.key),
  ])
  return rows.map((row) => ({ index: indexes[row.position - 1]!, delivery: whyNot(row) }))
}

function whyNot(row: NonNullable<(typeof readRefusedSignals)['row']>): Delivery {
  const { recorded } = row
  const payloadHash = row.payload_hash ?? undefined
  if (row.is_recorded) return { result: 'duplicate', recorded, payloadHash }
  if (row.is_signalled) return { result: 'ignored', reason: 'signalled', recorded, payloadHash }
  if (!row.goes_forward) return { result: 'ignored', reason: 'run_over', recorded }
  return { result: 'ignored', reason: row.is_running ? 'timed_out' : 'step_over', recorded }
}
