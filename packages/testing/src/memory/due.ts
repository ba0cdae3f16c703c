import { type ChangedRun, DEADLINE_DROPPED, deadlineCause } from '@belay/workflow/adapter'
import { changedRun } from './change.ts'
import { note } from './history.ts'
import type { Rows, RunRow } from './rows.ts'
import { nextSchedule } from './schedules.ts'
import { goesForward, isPastPivot, stopRun } from './stop.ts'

export function expireRuns(rows: Rows, { limit }: { limit: number }): readonly ChangedRun[] {
  const overdue = byDeadline(rows).filter(({ deadlineAt }) => deadlineAt! <= rows.now)
  if (overdue.length > 0) rows.changes += 1
  return overdue.slice(0, limit).flatMap((run) => {
    if (isPastPivot(run)) {
      run.deadlineAt = null
      note(rows, run.runId, { ...DEADLINE_DROPPED, actor: null, change: null })
      return []
    }
    stopRun(rows, run, 'failure', deadlineCause(new Date(run.deadlineAt!).toISOString()))
    return [changedRun(rows, run)]
  })
}

export function upcoming(
  rows: Rows,
  { definitionIds }: { readonly definitionIds: readonly number[] },
): {
  readonly claimInMs: number | null
  readonly deadlineInMs: number | null
  readonly scheduleInMs: number | null
} {
  const claimAt = rows.queue.nextAfter(new Set(definitionIds), rows.now)
  const deadlineAt = byDeadline(rows)[0]?.deadlineAt
  const inMs = (at: number | null | undefined) => (at === null || at === undefined ? null : at - rows.now)
  const scheduleAt = nextSchedule(rows)
  return {
    claimInMs: inMs(claimAt),
    deadlineInMs: inMs(deadlineAt),
    scheduleInMs: Number.isFinite(scheduleAt) ? scheduleAt - rows.now : null,
  }
}

/** When the first deadline passes; `Infinity` for never. */
export function nextDeadline(rows: Rows): number {
  let first = Number.POSITIVE_INFINITY
  for (const run of rows.liveRuns)
    if (run.deadlineAt !== null && run.deadlineAt < first && goesForward(run)) first = run.deadlineAt
  return first
}

function byDeadline(rows: Rows): readonly RunRow[] {
  return [...rows.liveRuns]
    .filter((run) => run.deadlineAt !== null && goesForward(run))
    .sort((one, other) => one.deadlineAt! - other.deadlineAt!)
}
