import type { Statement } from '../connection/statement.ts'

/** Renumbers a run's values by the steps of its new definition. Guarantee: the lock on the run and its steps is the guard. Index: primary key. */
export const moveRunValues: Statement<{ readonly moved: number }> = {
  name: 'move_run_values',
  text: `
with removed_values as (
  delete from belay.workflow_values v
  where v.run_id = $1::uuid
  returning v.run_id, v.step, v.fence, v.sequence, v.at, v.key, v.value
),
moved_values as (
  insert into belay.workflow_values (run_id, step, fence, sequence, at, key, value)
  select v.run_id, move.step, v.fence, v.sequence, v.at, v.key, v.value
  from removed_values v
  join unnest($2::int[], $3::int[]) as move (old_step, step) on move.old_step = v.step
  -- Inserts only after all are removed: two steps may swap numbers.
  where (select count(*) from removed_values) > 0
  returning 1
)
select count(*)::int as moved from moved_values`,
}
