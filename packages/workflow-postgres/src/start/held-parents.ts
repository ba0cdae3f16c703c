import type { NewRun } from '@belay/workflow/adapter'
import { passingLockWait, restoredLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { stepIs } from '../rows/step-lookup.ts'
import { startError } from './start-refusal.ts'

/**
 * The ids of those of these children whose parents' steps are held under the given fences. Locks these steps (shared), by (run, step): whatever takes
 * a step from its attempt happens entirely before or entirely after the start.
 */
export function heldParents(children: string): string {
  return `
  select n.run_id
  from ${children} n
  join belay.workflow_steps s on s.run_id = any (array[n.parent_run_id]) and ${stepIs('s', 'n.parent_step')}
  where s.fence = any (array[n.parent_fence]) and s.status = any (array['running', 'compensating']) and s.worker_id is not null
  order by n.parent_run_id, n.parent_step
  for share of s`
}

/**
 * Locks the steps that start children, before the keys of the children's limits are locked. Index: primary key. Locks: these steps (shared), by (run,
 * step).
 */
export const lockParents: Statement<{ readonly run_id: string | null }> = {
  name: 'lock_parents',
  text: `
with ${passingLockWait('$5')},
given_children as materialized (
  select c.run_id, c.parent_run_id, c.parent_step, c.parent_fence
  from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[]) as c (run_id, parent_run_id, parent_step, parent_fence)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
),
held_parents as materialized (
${heldParents('given_children')}
),
${restoredLockWait('held_parents')}
select h.run_id from held_parents h
union all
select null from restored_wait w where w.lock_timeout is null`,
}

/** The ids of those of these children whose parents' steps are not held any more. */
export async function lostParents(
  connection: Connection,
  runs: readonly NewRun[],
  waits: string,
): Promise<ReadonlySet<string>> {
  const children = runs.filter(({ parentFence }) => parentFence !== undefined)
  if (children.length === 0) return new Set()
  const rows = await connection
    .query(lockParents, [
      children.map(({ runId }) => runId),
      children.map(({ parent }) => parent?.runId ?? null),
      children.map(({ parent }) => parent?.step ?? null),
      children.map(({ parentFence }) => parentFence),
      waits,
    ])
    .catch((error: unknown) => {
      throw startError(error, runs)
    })
  const held = new Set(rows.map((row) => row.run_id))
  return new Set(children.flatMap(({ runId }) => (held.has(runId) ? [] : [runId])))
}
