import type { ApprovalsRequest, FoundApprovals } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'
import { stepIs } from '../rows/step-lookup.ts'

interface Found {
  readonly looked_at: number
  readonly last_id: string | null
  readonly run_id: string | null
  readonly workflow: string
  readonly version: number
  readonly key: string | null
  readonly step: string
  readonly since: number
  readonly timeout_at: number | null
}

/**
 * Part of a walk over the steps that wait for an approval, or for a signal, from a given place: by run, newest first, then by step. Guarantee: it reads
 * a bounded number of runs, and only live runs of workflows that have such steps. Index: steps of definitions that are approvals, for signals all steps of definitions; runs by (workflow, status,
 * id), once for each such workflow and live status; then primary keys. No locks.
 */
const findPending = (kind: ApprovalsRequest['kind']): Statement<Found> => ({
  name: `find_pending_${kind}s`,
  text: `
with asking_workflows as materialized (
  select distinct d.name
  from belay.workflow_definition_steps ds
  join belay.workflow_definitions d on d.id = any (array[ds.definition_id])
  where ds.kind = '${kind}' and ($1::text is null or d.name = $1::text) and ($2::text is null or ds.name = $2::text)
),
looked_at_runs as materialized (
  select found.id, found.definition_id, found.workflow, found.key, 'waiting' as waiting
  from asking_workflows asking
  -- Not constants in the condition: with constants the planner may walk the index of all live runs.
  cross join unnest(array[${forwardStatuses}]) as live (status)
  cross join lateral (
    select r.id, r.definition_id, r.workflow, r.key
    from belay.workflow_runs r
    -- A paused run may have been stopped: then it takes no decision.
    where r.workflow = any (array[asking.name]) and r.status = live.status and r.id <= $3::uuid and r.stop is null
    -- An order that only this index has. By id alone, a planner that expects many such runs would search all runs.
    order by r.workflow desc, r.id desc
    limit $5::int
  ) found
  order by found.id desc
  limit $5::int
),
pending_approvals as materialized (
  select r.id, r.workflow, d.version, r.key, ds.step as number, ds.name, s.waiting_since, s.available_at
  from looked_at_runs r
  join belay.workflow_definition_steps ds on ds.definition_id = any (array[r.definition_id]) and ds.kind = '${kind}'
  join belay.workflow_definitions d on d.id = any (array[r.definition_id])
  join belay.workflow_steps s on s.run_id = any (array[r.id]) and ${stepIs('s', 'ds.step')}
  where s.status = any (array[r.waiting])
    and ($2::text is null or ds.name = $2::text)
    -- In the run where the walk goes on, only steps after the given one; without one, none.
    and (r.id < $3::uuid or ds.step > (
      select place.step from belay.workflow_definition_steps place
      where place.definition_id = any (array[r.definition_id]) and place.kind = '${kind}' and place.name = $4::text
    ))
  order by r.id desc, ds.step
  limit $6::int
)
select (select count(*)::int from looked_at_runs) as looked_at, (select id from looked_at_runs order by id limit 1) as last_id,
  p.id as run_id, p.workflow, p.version, p.key, p.name as step,
  (extract(epoch from p.waiting_since) * 1000)::float8 as since, (extract(epoch from p.available_at) * 1000)::float8 as timeout_at
from (values (1)) as one_row
left join pending_approvals p on true
order by p.id desc, p.number`,
})

export const findPendingApprovals = findPending('approval')
export const findPendingSignals = findPending('signal')

// Runs read by one statement: some milliseconds, even if none of them waits.
const LOOKED_AT_MAX = 1_000

const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export async function findApprovals(
  connection: Connection,
  request: ApprovalsRequest,
): Promise<FoundApprovals> {
  const { kind, workflow = null, step = null, after, limit } = request
  if (after !== null && !isUuid(after.runId)) return { approvals: [], cursor: after, more: false }
  const rows = await connection.query(kind === 'signal' ? findPendingSignals : findPendingApprovals, [
    workflow,
    step,
    after?.runId ?? NEWEST,
    after?.step ?? null,
    LOOKED_AT_MAX,
    limit,
  ])
  const approvals = rows.flatMap(({ run_id, timeout_at, looked_at: _, last_id: __, ...approval }) =>
    run_id === null ? [] : [{ ...approval, runId: run_id, timeoutAt: timeout_at }],
  )
  const last = approvals.at(-1)
  if (last !== undefined && approvals.length === limit) {
    return { approvals, cursor: { runId: last.runId, step: last.step }, more: true }
  }
  const { looked_at, last_id } = rows[0]!
  const cursor = last_id === null ? after : { runId: last_id, step: null }
  return { approvals, cursor, more: looked_at === LOOKED_AT_MAX }
}
