import type { RunChange, RunToChange, StepChange, StoredStep } from '@belay/workflow/adapter'
import type { Statement } from '../connection/statement.ts'

/**
 * Gives ranges of a locked run's steps a status, and adds to their open dependencies: what a pause and a resumption change, of many items at once.
 * Guarantee: the lock on the steps is the guard. Index: primary key. Locks: none, because the transaction holds them all.
 */
export const shiftSteps: Statement<{ readonly shifted: number }> = {
  name: 'shift_steps',
  text: `
with shifted_steps as (
  update belay.workflow_steps s
  set status = r.status, open_dependencies = s.open_dependencies + r.added,
    -- As whoever writes the whole row leaves them.
    begun = case when s.started_at is null then false else s.begun end,
    undo_error = case when s.undo_of is null then null else s.undo_error end
  from unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::int[]) as r (run_id, first_step, last_step, status, added)
  where s.run_id = any (array[r.run_id]) and s.step >= r.first_step and s.step <= r.last_step
  returning 1
)
select count(*)::int as shifted from shifted_steps`,
}

/** Neighbours among the rows of a run that change in the same way. */
interface Shift {
  readonly first: number
  last: number
  readonly status: StoredStep['status']
  readonly added: number
}

/** Divides the changed steps into those that are shifted and those whose rows are written. */
export function divideSteps(
  { steps: before }: Pick<RunToChange, 'steps'>,
  { steps, migration }: Pick<RunChange, 'steps' | 'migration'>,
): { readonly shifts: readonly Shift[]; readonly written: readonly StepChange[] } {
  if (migration !== undefined) return { shifts: [], written: steps }
  const changes = new Map(steps.map((change) => [change.step, change]))
  const shifts: Shift[] = []
  const written: StepChange[] = []
  let open: Shift | undefined
  for (const row of before) {
    const change = changes.get(row.step)
    if (change === undefined || !isShifted(row, change)) {
      if (change !== undefined) written.push(change)
      open = undefined
      continue
    }
    const { step, status } = change
    const added = change.openDependencies - row.openDependencies
    if (open?.status === status && open.added === added) {
      open.last = step
      continue
    }
    open = { first: step, last: step, status, added }
    shifts.push(open)
  }
  return { shifts, written }
}

/** The queue row of a step that waits until an instant depends on its whole row. */
function isShifted(before: StoredStep, change: StepChange): boolean {
  if (before.availableAt !== null) return false
  return Object.entries(change).every(
    ([field, value]) => SHIFTED.has(field) || before[field as keyof StoredStep] === value,
  )
}

const SHIFTED: ReadonlySet<string> = new Set(['status', 'openDependencies'] satisfies (keyof StoredStep)[])

/** The parameters of {@link shiftSteps}. */
export function shiftColumns(runId: string, shifts: readonly Shift[]): readonly unknown[] {
  return [
    shifts.map(() => runId),
    shifts.map(({ first }) => first),
    shifts.map(({ last }) => last),
    shifts.map(({ status }) => status),
    shifts.map(({ added }) => added),
  ]
}
