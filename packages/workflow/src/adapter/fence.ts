import type { AttemptRef } from './records.ts'

/** Names one attempt of one step among all that there will ever be. */
export function attemptKey({ runId, step, fence }: AttemptRef): string {
  return `${runId}/${step}/${fence}`
}

/**
 * How often the step was claimed or moved before this attempt, in either direction. What a worker remembers of a run's payloads is current
 * for a step that nobody else can have touched.
 */
export function movesBefore({ fence }: AttemptRef): number {
  return fence - 1
}
