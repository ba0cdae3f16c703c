import type { Statement } from '../connection/statement.ts'

/**
 * Takes a run's steps out of the lines of limits, and frees slots that were given to them, because the steps get other numbers. None of them is held.
 * Guarantee: the lock on the run and its steps is the guard. Index: waiting steps by primary key, slots by holder.
 */
export const leaveLimits: Statement<{ readonly left: number }> = {
  name: 'leave_limits',
  text: `
with left_lines as (
  delete from belay.workflow_limit_waiters w where w.run_id = $1::uuid
  returning 1
),
freed_slots as (
  delete from belay.workflow_limit_slots s where s.run_id = $1::uuid and s.step >= 0
  returning 1
)
select ((select count(*) from left_lines) + (select count(*) from freed_slots))::int as left`,
}
