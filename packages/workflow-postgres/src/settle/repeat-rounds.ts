import type { Claim, KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { templateOf } from '../rows/item-rows.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { leadOf, notedLate, placeAt } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Records rounds of loops that are followed by another, and adds the next rounds as rows: leased to this worker as far as it has room, and queued
 * otherwise, or until their delay is over. Guarantee: all of it commits together; an attempt that no longer holds its round adds nothing. In a paused
 * run, whose join has one more open dependency, the next round is ready, but neither leased nor queued. In a run that is stopping, whose join was cancelled, the next round is
 * cancelled. Index: primary keys. Locks: the worker's row (shared), own rounds, then the joins, each by (run, step).
 */
export const repeatRounds: Statement<RepeatedRow> = {
  name: 'repeat_rounds',
  text: repeatText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptRepeatRounds: Statement<RepeatedRow> = {
  name: 'repeat_rounds_kept',
  text: repeatText({ columns: keptColumns(), rows: keptRows('completed_rounds', { ended: `'completed'` }) }),
}

/** One for each settled round. `fence` and `round` are those of the next one. */
interface RepeatedRow {
  readonly position: number
  readonly status: 'ready' | 'running' | 'held' | 'cancelled'
  readonly fence: number
  readonly round: number
}

function repeatText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$10')},
live_worker as materialized (
  -- The first lock of all, as in a claim. A dead worker may still settle steps that nobody has taken from it, but is leased nothing new.
  select w.id
  from (select count(*) from bounded_wait) as wait_was_bounded
  cross join belay.workflow_workers w
  where w.id = $1::uuid and w.status = 'live'
  for key share of w
),
repeated_attempts as materialized (
  select a.run_id, a.step, a.fence, a.definition_id, a.output, a.next_key, a.delay_ms, a.position, $1::uuid as worker_id, 'running' as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::text[], $7::text[], $8::float8[])
    with ordinality as a (run_id, step, fence, definition_id, output, next_key, delay_ms, position)
  cross join (select count(*) from live_worker) as worker_was_locked
  order by a.run_id, a.step
),
completed_rounds as (
  update belay.workflow_steps s
  set status = 'completed', output = a.output::json, finished_at = belay.store_now()
  from repeated_attempts a
  where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.step, a.fence, a.definition_id, a.output, a.next_key, a.delay_ms, a.position, s.round as effect_round, s.priority${keeping.columns}
),
-- The join waits for one round at a time: its count stays. While its row is locked, the run can be neither stopped nor paused.
locked_joins as materialized (
  select j.run_id, j.step, j.fence, j.definition_id, j.output, j.next_key, j.delay_ms, j.position, j.effect_round, j.priority,
    s.status = 'pending' as waits, s.open_dependencies - 1 as held
  from (
    select c.run_id, c.step, c.fence, c.definition_id, c.output, c.next_key, c.delay_ms, c.position, c.effect_round, c.priority, ds.dependents[1] as join_step
    from completed_rounds c
    join belay.workflow_definition_steps ds
      on ds.definition_id = any (array[c.definition_id]) and ds.step = any (array[${templateOf('c.step')}])
    order by c.run_id, ds.dependents[1]
  ) j
  join belay.workflow_steps s on s.run_id = any (array[j.run_id]) and ${stepIs('s', 'j.join_step')}
  for no key update of s
),
next_rounds as materialized (
  select n.run_id, n.step + 1 as step, n.definition_id, n.output, n.next_key, n.position, n.effect_round, n.held, n.priority, null as undo_of,
    case when n.begins and n.turn <= n.room then n.fence + 1 else n.fence end as fence,
    case when not n.waits then 'cancelled' when n.held > 0 then 'held' when n.begins and n.turn <= n.room then 'running' else 'ready' end as status,
    case when n.waits and n.delay_ms > 0 then belay.store_now() + n.delay_ms * interval '1 millisecond' end as available_at
  from (
    select j.*, j.begins_now as begins, case when exists (select from live_worker) then $9::int else 0 end as room,
      row_number() over (partition by j.begins_now order by j.run_id, j.step) as turn
    from (select l.*, l.waits and l.held = 0 and l.delay_ms = 0 as begins_now from locked_joins l) j
  ) n
),
added_rounds as (
  insert into belay.workflow_steps (run_id, step, round, fence, open_dependencies, status, attempts, worker_id, started_at, available_at, item_key, item, priority)
  select n.run_id, n.step, n.effect_round, n.fence, 0, case n.status when 'held' then 'ready' else n.status end,
    case when n.status = 'running' then 1 else 0 end, case when n.status = 'running' then $1::uuid end,
    case when n.status = 'running' then belay.store_clock() end, n.available_at, n.next_key, n.output::json, n.priority
  from next_rounds n
),
queued_rounds as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeAt('coalesce(n.available_at, belay.store_now())', leadOf('n'))}, n.definition_id, n.step, n.fence, n.run_id
  from next_rounds n
  where n.status = 'ready'
),
${notedLate(`(select * from next_rounds n where n.status = 'ready')`, 'q.available_at', leadOf('q'))}${keeping.rows}
select n.position::int as position, n.status, n.fence, n.effect_round as round from next_rounds n`
}

export type RepeatedOutcome = Extract<Outcome, { type: 'repeated' }>

export interface Repeated {
  /** Indexes of the outcomes that were recorded now. */
  readonly settled: readonly number[]
  readonly claims: readonly Claim[]
  readonly runs: readonly []
  readonly queued: boolean
}

export async function repeat(
  connection: Connection,
  request: KeepsAttempts & {
    workerId: string
    outcomes: readonly RepeatedOutcome[]
    handBackMax: number
  },
): Promise<Repeated> {
  const { workerId, outcomes, handBackMax } = request
  const rows = await connection.query(request.keepAttempts ? keptRepeatRounds : repeatRounds, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    outcomes.map((outcome) => outcome.output),
    outcomes.map((outcome) => outcome.nextItem.key),
    outcomes.map((outcome) => outcome.delayMs),
    handBackMax,
    sharedLockWait,
  ])
  const leased = rows.filter(({ status }) => status === 'running')
  return {
    settled: rows.map(({ position }) => position - 1),
    claims: leased.map((row) => claimOf(row, outcomes[row.position - 1]!)),
    runs: [],
    queued: rows.some(({ status, position }) => status === 'ready' && outcomes[position - 1]!.delayMs === 0),
  }
}

/** The worker knows the next round's item already, so the answer does not repeat it. */
function claimOf({ fence, round }: RepeatedRow, outcome: RepeatedOutcome): Claim {
  return {
    runId: outcome.runId,
    step: outcome.step + 1,
    fence,
    direction: 'forward',
    definitionId: outcome.definitionId,
    round,
    attempt: 1,
    failures: 0,
    losses: 0,
    undoOf: null,
    item: outcome.nextItem,
  }
}
