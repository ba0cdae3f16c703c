import type { AttemptRef } from './records.ts'

/** Identifies one attempt among all attempts of all steps. */
export function attemptKey({ runId, step, fence }: AttemptRef): string {
  return `${runId}/${step}/${fence}`
}

/**
 * How often the step was claimed or moved before this attempt, in either direction. At 0, nobody else can have touched the step, so a worker's cached
 * payloads are current for it.
 */
export function movesBefore({ fence }: AttemptRef): number {
  return fence - 1
}
