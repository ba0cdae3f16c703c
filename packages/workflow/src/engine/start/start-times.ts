import type { NewRun } from '../../adapter/index.ts'
import { DURATION_MAX, type Duration } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import type { Instant } from '../../instant.ts'
import { duration, falseOr, instant, type OptionTable, type SettingsOf } from '../../options/index.ts'

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

/** The options of a start that say when. */
export const START_TIMES = {
  startAt: { sets: 'when the run may begin', takes: instant },
  delay: { sets: 'how long the run waits before it begins', takes: duration() },
  deadline: {
    sets: 'how long the run may take from its start; false for as long as it likes',
    takes: falseOr(duration(0, DURATION_MAX, { more: true })),
  },
} satisfies OptionTable

/** Brings them together. Throws `invalid_option`. */
export function startTimes(
  call: string,
  { startAt, delay, deadline }: SettingsOf<typeof START_TIMES>,
  inheritedDeadlineMs: number | null,
): Pick<NewRun, 'startAt' | 'startDelayMs' | 'deadlineMs'> {
  if (startAt !== undefined && delay !== undefined) {
    throw new BelayError('invalid_option', `${call}: startAt and delay are both given. Keep one of them.`)
  }
  const deadlineMs = deadline === undefined ? (inheritedDeadlineMs ?? undefined) : deadline || undefined
  return { startAt, startDelayMs: delay, deadlineMs }
}
