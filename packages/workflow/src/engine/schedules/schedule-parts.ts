import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import type { FirerParts } from './firing.ts'

/** What the calls of `engine.schedules` need. */
export interface SchedulesParts extends FirerParts {
  readonly assertOpen: () => void
  /** A schedule may be due soon. */
  readonly onChanged: () => void
}

export function unknownSchedule(call: string, name: string): BelayError {
  return new BelayError(
    'unknown_schedule',
    `${call}: there is no schedule ${shown(name)}. Use the name that schedules.put() was given; schedules.list() reads all names.`,
  )
}
