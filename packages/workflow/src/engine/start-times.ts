import type { NewRun } from '../adapter/index.ts'
import { DURATION_MAX } from '../definition/option-check.ts'
import { type Duration, durationMs } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { type Instant, instantMs } from '../instant.ts'

/** When a run begins, and by when it must have ended. */
export interface StartTimes {
  /** When its first steps may begin; until then the run is `scheduled`. A time that has passed starts it at once. Give either this or `delay`. */
  readonly startAt?: Instant | undefined
  /** The same as a delay from now. */
  readonly delay?: Duration | undefined
  /**
   * How long it may take from its start, waits included; then it fails with that as its cause, and is undone. `false` for as long as it
   * likes. Default: what its definition says.
   */
  readonly deadline?: Duration | false | undefined
}

/** Checks them. Throws `invalid_option`. */
export function checkStartTimes(
  { startAt, delay, deadline }: StartTimes,
  inheritedDeadlineMs: number | null,
): Pick<NewRun, 'startAt' | 'startDelayMs' | 'deadlineMs'> {
  if (startAt !== undefined && delay !== undefined) {
    throw new BelayError('invalid_option', 'A run was given both startAt and delay. Keep one of them.')
  }
  return {
    startAt: startAt === undefined ? undefined : instantMs(startAt, "A run's startAt"),
    startDelayMs: delay === undefined ? undefined : boundedMs(delay, "A run's delay"),
    deadlineMs: deadlineMs(deadline, inheritedDeadlineMs),
  }
}

function deadlineMs(deadline: StartTimes['deadline'], inheritedMs: number | null): number | undefined {
  if (deadline === undefined) return inheritedMs ?? undefined
  if (deadline === false) return undefined
  const ms = boundedMs(deadline, "A run's deadline")
  if (ms > 0) return ms
  throw new BelayError(
    'invalid_option',
    "A run's deadline must be longer than nothing. Give false for no deadline.",
  )
}

function boundedMs(duration: Duration, option: string): number {
  const ms = durationMs(duration, option)
  if (ms <= durationMs(DURATION_MAX, 'the longest duration')) return ms
  throw new BelayError(
    'invalid_option',
    `${option} is ${JSON.stringify(duration)}, and ${DURATION_MAX} is the most.`,
  )
}
