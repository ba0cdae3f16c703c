import type { RunToChange, StoredStep } from '../../adapter/index.ts'
import type { Plan } from './plan.ts'
import { isForward, runRefusal } from './refusal.ts'

/**
 * Gives a run another priority, and its steps with it: each keeps what it has of its own. Steps in the queue take the place they would have had with
 * this priority from the beginning; a higher fence makes their earlier queue rows stale. Null if the run has this priority.
 *
 * @throws BelayError `action_refused` for a run that has ended or is being undone: its undo goes before whatever goes forward.
 */
export function planPriority(found: RunToChange, priority: number): Plan | null {
  const { run, steps } = found
  const from = run.priority ?? 0
  if (!isForward(run)) throw runRefusal(run, 'given another priority')
  if (from === priority) return null
  const changed = steps.map((step): StoredStep => {
    const raised = { ...step, priority: (step.priority ?? 0) - from + priority }
    return mayBeQueued(step) ? { ...raised, fence: step.fence + 1 } : raised
  })
  const queued = run.status === 'paused' ? [] : changed.filter(isQueued)
  return {
    run: { ...run, priority },
    steps: changed,
    queue: queued.map((step) => ({ ...step, readySince: readySince(found, step) })),
    note: { priority: { from, to: priority } },
  }
}

function mayBeQueued({ status, workerId }: StoredStep): boolean {
  return workerId === null && (status === 'ready' || status === 'waiting')
}

/** A wait without an end is not queued. */
function isQueued(step: StoredStep): boolean {
  return mayBeQueued(step) && (step.status === 'ready' || step.availableAt !== null)
}

/** When the step became ready, or will: no row says so, but the rows of what it waited for. */
function readySince({ run, steps, shape }: RunToChange, step: StoredStep): number {
  const ended = (shape.steps[step.step]?.dependsOn ?? []).map((number) => steps[number]?.finishedAt)
  const instants = [run.startAt, step.availableAt, step.finishedAt, step.signalledAt, ...ended]
  return Math.max(run.createdAt, ...instants.filter((instant) => instant != null))
}
