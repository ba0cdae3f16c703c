import type { NewRun } from '../../adapter/index.ts'
import { DURATION_MAX, type Duration } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import type { Instant } from '../../instant.ts'
import { duration, falseOr, instant, type OptionTable, type SettingsOf } from '../../options/index.ts'

/** When a run begins, and its deadline. */
export interface StartTimes {
  /** When the run's first steps may begin. Until then it is `scheduled`. A past time starts it at once. Give either this or `delay`. */
  readonly startAt?: Instant | undefined
  /** The same, as a delay from now. */
  readonly delay?: Duration | undefined
  /**
   * How long the run may take from its start, including waits. A run that takes longer fails with cause `deadline` and is undone. `false` means no
   * limit. Default: the definition's `deadline`.
   */
  readonly deadline?: Duration | false | undefined
}

/** The options of a start that concern time. */
export const START_TIMES = {
  startAt: { sets: 'when the run may begin', takes: instant },
  delay: { sets: 'how long the run waits before it begins', takes: duration() },
  deadline: {
    sets: 'how long the run may take from its start; false for no limit',
    takes: falseOr(duration(0, DURATION_MAX, { more: true })),
  },
} satisfies OptionTable

/** Combines them. Throws `invalid_option`. */
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
