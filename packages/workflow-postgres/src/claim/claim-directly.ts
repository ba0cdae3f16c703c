import { boundedLockWait } from '../base/lock-wait.ts'
import type { Statement } from '../connection/statement.ts'
import { begunAttempt, type ClaimAnswer, claimedColumns } from '../rows/claim-row.ts'
import { FIRST_ITEM, newItem } from '../rows/item-rows.ts'
import { waitedMs } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'
import {
  claimableSteps,
  claimRows,
  dueDefinitions,
  headColumns,
  itemRuns,
  liveWorker,
  newestMarks,
  trimmedLeases,
} from './claim-parts.ts'

/**
 * Does the work of {@link claimSteps} in fewer writes. It locks no step before it updates it, so it waits briefly for a locked step. If that wait
 * times out, the whole claim is rolled back. Guarantee and index as there. It removes every hint that it looked at: a hint that does not match its
 * step is stale. Locks: the worker's row (shared), queue rows (skipping locked ones), the runs of items (shared), then
 * steps.
 */
export const claimStepsDirectly: Statement<ClaimAnswer> = {
  name: 'claim_steps_directly',
  text: `
with ${boundedLockWait('$6')},
${liveWorker('workflow_ready', 'bounded_wait cross join ')},
${dueDefinitions('workflow_ready', { since: '$4', minutes: '$7' })},
due_rows as materialized (
  select due.row_at
  from due_definitions
  cross join lateral (
    select r.ctid as row_at from belay.workflow_ready r
    where r.definition_id = due_definitions.definition_id and r.available_at <= due_definitions.until
      and r.available_at >= due_definitions.available_at
    order by r.available_at, r.run_id, r.step
    limit $3::int
    for update skip locked
  ) due
  limit $3::int
),
-- Queue rows are never updated, so the ctid of a locked row stays valid until this statement ends.
dequeued_rows as (
  delete from belay.workflow_ready r
  where r.ctid = any (array(select row_at from due_rows))
  returning r.run_id, r.step, r.fence, r.definition_id, r.available_at
),
hinted_steps as materialized (
  select q.run_id, q.step, q.fence, min(q.definition_id) as definition_id, min(q.available_at) as available_at
  from dequeued_rows q
  group by q.run_id, q.step, q.fence
  order by q.run_id, q.step
),
${itemRuns(`select h.run_id from hinted_steps h where h.step >= ${FIRST_ITEM}`)},
due_steps as materialized (
  select h.run_id, h.step, h.fence, h.definition_id, h.available_at, ${claimableSteps('hinted_steps h')}
),
claimed_steps as (
  update belay.workflow_steps s
  set status = case when s.status = 'compensating' then s.status else 'running' end,
    fence = s.fence + 1, worker_id = $1::uuid, ${begunAttempt}
  from due_steps due
  where s.run_id = any (array[due.run_id]) and ${stepIs('s', 'due.step')}
    -- A hint with an older fence is stale. In a run that was paused meanwhile, each step has one more open dependency; but no item.
    and s.fence = any (array[due.fence]) and s.status = any (due.claimable_statuses)
    and s.open_dependencies = any (array[due.no_dependencies]) and case when due.run_id is not null then s.worker_id is null end
  returning s.run_id, s.step, s.fence, due.definition_id, ${claimedColumns}, due.available_at, ${waitedMs('s', 'due.available_at')} as waited_ms,
    due.has_input, due.input, ${newItem(1, waitedMs('s', 'due.available_at'))}
),
journaled_runs as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select $1::uuid, array_agg(c.run_id) from claimed_steps c having count(*) > 0
  returning id
),
${trimmedLeases('$5')}
select 'head' as kind, exists (select from live_worker) as live, (select count(*)::int from dequeued_rows) as looked, 0 as kept,
  ${headColumns('workflow_ready')}
from (${newestMarks('dequeued_rows')}) m
union all
${claimRows('claimed_steps')}`,
}
