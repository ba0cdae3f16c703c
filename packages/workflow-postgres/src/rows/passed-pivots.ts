import { stepIs } from './step-lookup.ts'

/**
 * Whether a pivot of the run `run` has completed: then the run goes forward only. One lookup of its definition, and of each of its pivots. `completed`
 * is a column of the caller that says 'completed', so that the planner finds the steps by primary key alone.
 */
export function hasPassedPivot({
  run,
  completed,
}: {
  readonly run: string
  readonly completed: string
}): string {
  return `exists (
    select from belay.workflow_definitions defined
    cross join lateral unnest(defined.pivots) as pivot (step)
    join belay.workflow_steps p on p.run_id = any (array[${run}.id]) and ${stepIs('p', 'pivot.step')}
    where defined.id = any (array[${run}.definition_id]) and p.status = any (array[${completed}])
  )`
}
