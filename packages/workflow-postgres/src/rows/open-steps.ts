import { stepIs } from './step-lookup.ts'

/** Statuses of a step that has not begun. They are cancelled when its run stops. */
export const openStatuses = `array['pending', 'ready', 'waiting']`

/**
 * The text of a CTE `locked_steps` that locks the steps which have not begun, by (run, step). `runs` names the CTE of their runs, `id` its column of
 * run ids; its column `open_statuses` holds {@link openStatuses}, so that the planner finds the steps by primary key alone.
 */
export function lockedOpenSteps({
  runs,
  id,
  skipLocked = false,
}: {
  readonly runs: string
  readonly id: string
  readonly skipLocked?: boolean
}): string {
  return `locked_steps as materialized (
  select s.run_id, s.step, s.available_at
  from ${runs} o
  join belay.workflow_steps s on s.run_id = any (array[o.${id}])
  where s.status = any (o.open_statuses)
  order by o.${id}, s.step
  for no key update of s${skipLocked ? ' skip locked' : ''}
)`
}

/** The text of an update that cancels locked steps; `from` yields them as `l`. {@link forgottenHints} removes their queue rows. */
export function cancelSteps(from = 'locked_steps l'): string {
  return `update belay.workflow_steps s
  set status = 'cancelled'
  from ${from}
  where s.run_id = any (array[l.run_id]) and ${stepIs('s', 'l.step')}`
}
