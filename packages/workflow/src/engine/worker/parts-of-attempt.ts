import type { Logger } from '../../logger.ts'
import type { Around } from '../attempt/around.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { AttemptParts } from '../attempt/attempt-parts.ts'
import type { AttemptReports } from '../attempt/attempt-reports.ts'
import type { ValueLimits } from '../attempt/telling.ts'
import type { RunTraceparents } from '../base/run-traceparents.ts'
import type { Teller } from './teller.ts'

/** What the parts of attempts are made of. */
export type SharedParts = Omit<AttemptParts<Attempt>, 'onCall' | 'onLateResult' | 'telling' | 'around'> & {
  readonly around?: readonly Around[] | undefined
  readonly traceparents?: RunTraceparents | undefined
  readonly valueLimits: ValueLimits
  readonly handlerLog: Logger
}

/** What the attempts of a session share. One literal: every attempt reads these, and an object that was spread is slower to read. */
export function partsOfAttempt(
  parts: SharedParts,
  reports: AttemptReports,
  teller: Teller,
): AttemptParts<Attempt> {
  const { runtime, payloads, payloadMaxBytes, children, valueLimits, around: hooks, traceparents } = parts
  const { handlerLog: log, log: engineLog } = parts
  return {
    runtime,
    payloads,
    payloadMaxBytes,
    children,
    log,
    onCall: (attempt) => reports.begun(attempt),
    onLateResult: (attempt) => reports.discarded(attempt, 'timed_out'),
    telling: { ...valueLimits, clock: runtime.clock, log, onTold: (telling) => teller.note(telling) },
    around:
      hooks === undefined || traceparents === undefined
        ? undefined
        : { hooks, traceparents, clock: runtime.clock, log: engineLog },
  }
}
