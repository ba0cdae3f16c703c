import type { Logger } from '../../logger.ts'
import type { AttemptParts } from '../attempt/attempt.ts'
import type { AttemptReports } from '../attempt/attempt-reports.ts'
import type { ValueLimits } from '../attempt/telling.ts'
import type { Teller } from './teller.ts'

type SharedParts = Omit<AttemptParts, 'onCall' | 'onLateResult' | 'telling' | 'log'> & {
  readonly valueLimits: ValueLimits
  readonly handlerLog: Logger
}

/** What the attempts of a session share. One literal: every attempt reads these, and an object that was spread is slower to read. */
export function partsOfAttempt(
  { runtime, payloads, payloadMaxBytes, children, handlerLog: log, valueLimits }: SharedParts,
  reports: AttemptReports,
  teller: Teller,
): AttemptParts {
  return {
    runtime,
    payloads,
    payloadMaxBytes,
    children,
    log,
    onCall: (attempt) => reports.begun(attempt),
    onLateResult: (attempt) => reports.discarded(attempt, 'timed_out'),
    telling: { ...valueLimits, clock: runtime.clock, log, onTold: (telling) => teller.note(telling) },
  }
}
