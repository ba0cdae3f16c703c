import type { RunCause } from '../cause.ts'

/** For `expireRuns`: the entry in the history of a run whose deadline passed after a pivot had completed. */
export const DEADLINE_DROPPED = {
  action: 'deadline_dropped',
  reason: 'The deadline passed after a pivot had completed, so the run goes on.',
} as const

/** For `expireRuns`: JSON text of the cause of a run that has passed its deadline, an ISO 8601 string in UTC with milliseconds. */
export function deadlineCause(deadlineAt: string): string {
  return JSON.stringify({ type: 'deadline', deadlineAt } satisfies RunCause)
}
