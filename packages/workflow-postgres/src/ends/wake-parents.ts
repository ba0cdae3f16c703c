import type { WokenParent } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { forgottenHints, leadOf, placeNow } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Makes the steps that started runs look at them. Guarantee: the step's row and its queue row commit together, and both belong to the definition that
 * the run has. What the step records it reads from the child, so a step that looks too often does no harm. Index: primary keys. Locks: steps by
 * (run, step), then their runs (shared), skipping locked ones: whoever changes the step or its run may have looked before the child ended.
 */
export const wakeParentsStatement: Statement<{
  readonly position: number
  readonly definition_id: number | null
  readonly is_busy: boolean
}> = {
  name: 'wake_parents',
  text: `
with ended_children as materialized (
  select a.position, c.parent_run_id as run_id, c.parent_step as step
  from unnest($1::uuid[]) with ordinality as a (child_id, position)
  join belay.workflow_runs c on c.id = any (array[a.child_id])
),
-- As of the statement's snapshot, which shows the children's steps and the definition whose numbers those are.
asked_steps as materialized (
  select asked.run_id, asked.step, r.definition_id, exists (
    select from belay.workflow_steps s where s.run_id = asked.run_id and s.step = asked.step
  ) as is_there
  from (select distinct e.run_id, e.step from ended_children e where e.step is not null) asked
  join belay.workflow_runs r on r.id = any (array[asked.run_id])
  order by asked.run_id, asked.step
),
locked_steps as materialized (
  select a.run_id, a.step, a.definition_id, s.status, s.fence, s.worker_id, s.open_dependencies, s.available_at
  from asked_steps a
  join belay.workflow_steps s on s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')}
  order by a.run_id, a.step
  for no key update of s skip locked
),
asked_runs as materialized (
  select l.run_id from locked_steps l group by l.run_id order by l.run_id
),
-- Locked (shared), so its current version is read: since the snapshot, the run may have been paused, or moved to a definition that renumbers the step.
current_runs as materialized (
  select r.id, r.definition_id, r.status
  from asked_runs a
  join belay.workflow_runs r on r.id = any (array[a.run_id])
  order by a.run_id
  for share of r skip locked
),
seen_steps as materialized (
  select l.run_id, l.step, l.definition_id, l.fence, l.status, l.available_at,
    l.status = 'running' or (l.status = 'compensating' and l.worker_id is not null) as is_busy,
    l.status = 'waiting' or (l.status = 'compensating' and l.worker_id is null) as waits,
    -- A resumption queues what a paused run held back.
    r.status <> 'paused' and l.open_dependencies = 0 as is_claimable
  from locked_steps l
  join current_runs r on r.id = any (array[l.run_id])
  where r.definition_id = any (array[l.definition_id])
  order by l.run_id, l.step
),
woken_steps as (
  -- Sets no column that a CHECK connects with another: if Postgres finds the row outdated, it checks constraints on the old version first.
  update belay.workflow_steps s
  set available_at = case when w.status = 'waiting' then belay.store_now() end
  from seen_steps w
  where w.waits and s.run_id = any (array[w.run_id]) and ${stepIs('s', 'w.step')}
  returning w.run_id, w.step, w.definition_id, w.fence, w.is_claimable, s.undo_of, s.priority
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(leadOf('w'))}, w.definition_id, w.step, w.fence, w.run_id
  from woken_steps w
  where w.is_claimable
),
${forgottenHints('seen_steps f', 'case when f.waits then f.definition_id end')}
select e.position::int as position, w.definition_id,
  coalesce(a.is_there, false) and coalesce(seen.is_busy, true) as is_busy
from ended_children e
left join asked_steps a on a.run_id = e.run_id and a.step = e.step
left join seen_steps seen on seen.run_id = e.run_id and seen.step = e.step
left join woken_steps w on w.run_id = e.run_id and w.step = e.step`,
}

export async function wakeParents(
  connection: Connection,
  childIds: readonly string[],
): Promise<readonly WokenParent[]> {
  const woken: WokenParent[] = childIds.map(() => ({ result: 'over' }))
  const possible = childIds.flatMap((childId, index) => (isUuid(childId) ? [index] : []))
  if (possible.length === 0) return woken
  const rows = await connection.query(wakeParentsStatement, [possible.map((index) => childIds[index]!)])
  for (const { position, definition_id: definitionId, is_busy } of rows) {
    const index = possible[position - 1]!
    if (definitionId !== null) woken[index] = { result: 'woken', definitionId }
    else if (is_busy) woken[index] = { result: 'busy' }
  }
  return woken
}
