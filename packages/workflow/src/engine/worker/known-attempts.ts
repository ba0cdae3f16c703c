import type { Attempt } from '../attempt/attempt.ts'

type Known = Pick<Attempt, 'claim' | 'phase' | 'startedAt'>

/** The number of attempts that began before this instant of the engine's clock, or have yet to begin. */
export function knownBefore(attempts: Iterable<Known>, instant: number): number {
  let known = 0
  for (const { startedAt } of attempts) if (startedAt < instant) known += 1
  return known
}

/** Runs with a forward attempt in flight that began before `instant` of the engine's clock. */
export function forwardRuns(attempts: Iterable<Known>, instant: number): string[] {
  const runs = new Set<string>()
  for (const { claim, phase, startedAt } of attempts) {
    if (claim.direction === 'forward' && phase === 'running' && startedAt < instant) runs.add(claim.runId)
  }
  return [...runs]
}
