import { stepIs } from './step-lookup.ts'

/** Whether a parked step still waits: it has neither been claimed nor cancelled, nor has its run stopped or paused. */
export function waitingStep(waiter: string): string {
  return `exists (
    select from belay.workflow_steps t
    join belay.workflow_runs r on r.id = any (array[t.run_id])
    where t.run_id = any (array[${waiter}.run_id]) and ${stepIs('t', `${waiter}.step`)} and t.fence = any (array[${waiter}.fence])
      and t.status = 'ready' and t.open_dependencies = 0 and r.status = 'running'
  )`
}

/** Whether the attempt that has an instant waits for it with its worker. */
export function timedStep(slot: string): string {
  return `exists (
    select from belay.workflow_steps t
    where t.run_id = any (array[${slot}.run_id]) and ${stepIs('t', `${slot}.step`)} and t.fence = any (array[${slot}.fence]) and t.status = 'running'
  )`
}
