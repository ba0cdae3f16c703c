import type { Statement } from '../connection/statement.ts'

/**
 * Renumbers the steps that started a run's children by the steps of its new definition. Guarantee: the lock on the run and its steps is the guard: no
 * step starts a child meanwhile. Index: children by parent. Locks: the children that are renumbered.
 */
export const moveChildren: Statement<{ readonly moved: number }> = {
  name: 'move_children',
  text: `
with moved_children as (
  update belay.workflow_runs c
  set parent_step = move.step
  from unnest($2::int[], $3::int[]) as move (old_step, step)
  where c.id = any (array(select child.run_id from belay.workflow_children child where child.parent_run_id = $1::uuid))
    and c.parent_step = move.old_step and move.step <> move.old_step
  returning 1
)
select count(*)::int as moved from moved_children`,
}
