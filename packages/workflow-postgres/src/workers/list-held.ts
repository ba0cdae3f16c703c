import type { HeldStepRecord, UndoneStatus } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { claimedColumns } from '../rows/claim-row.ts'
import { rowName, templateOf } from '../rows/item-rows.ts'
import { liveStatuses } from '../rows/run-statuses.ts'

/**
 * A worker's steps by its journal, for people. For a worker older than the journals, it reads every live run. Index: the journal, live runs, then
 * primary keys. No locks.
 */
export const readHeldByWorker: Statement<{
  readonly run_id: string
  readonly workflow: string
  readonly version: number
  readonly step: number
  readonly name: string
  readonly attempt: number
  readonly undo_of: UndoneStatus | null
  readonly since: number
}> = {
  name: 'read_held_by_worker',
  text: `
with candidate_runs as materialized (
  select distinct named.run_id as id
  from belay.workflow_leases l
  cross join lateral unnest(l.run_ids) as named (run_id)
  where l.worker_id = $1::uuid
  union
  select r.id
  from belay.workflow_runs r
  where r.status in (${liveStatuses})
    and not (select w.journaled from belay.workflow_workers w where w.id = $1::uuid)
),
live_runs as materialized (
  select r.id, r.workflow, r.definition_id, array['running', 'compensating'] as leased_statuses
  from candidate_runs c
  join belay.workflow_runs r on r.id = any (array[c.id])
)
select s.run_id, r.workflow, d.version, s.step, ${rowName} as name, ${claimedColumns},
  (extract(epoch from case when s.undo_of is null then s.started_at else s.undo_started_at end) * 1000)::float8 as since
from live_runs r
join belay.workflow_steps s on s.run_id = any (array[r.id])
join belay.workflow_definitions d on d.id = any (array[r.definition_id])
join belay.workflow_definition_steps ds on ds.definition_id = any (array[r.definition_id]) and ds.step = any (array[${templateOf('s.step')}])
-- The worker is named through the run, so that the planner does not search the steps for it.
where s.worker_id = any (array[case when r.id is not null then $1::uuid end]) and s.status = any (r.leased_statuses)
order by r.id, s.step
limit $2::int`,
}

export async function listHeld(
  connection: Connection,
  request: { workerId: string; limit: number },
): Promise<readonly HeldStepRecord[]> {
  if (!isUuid(request.workerId)) return []
  const rows = await connection.query(readHeldByWorker, [request.workerId, request.limit])
  return rows.map((row) => ({
    runId: row.run_id,
    workflow: row.workflow,
    version: row.version,
    step: row.step,
    name: row.name,
    attempt: row.attempt,
    direction: row.undo_of === null ? 'forward' : 'undo',
    since: row.since,
  }))
}
