import type { RunCause } from '../cause.ts'

/** For `expireRuns`: JSON text of the cause of a run that has passed its deadline, an ISO 8601 string in UTC with milliseconds. */
export function deadlineCause(deadlineAt: string): string {
  return JSON.stringify({ type: 'deadline', deadlineAt } satisfies RunCause)
}
