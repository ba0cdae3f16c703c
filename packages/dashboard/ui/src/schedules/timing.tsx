import type { Firing, Schedule } from '../../../src/api/schedules.ts'
import { fullInstant, instant, span } from '../words.ts'
import { pageZone, wallOf, wallText } from './zoned.ts'

/** A worker that is busy may come a little later. */
const LATE_MS = 10_000

/** It should have fired, and no worker has done it. */
export function isLate({ nextAt }: Schedule, now: number): boolean {
  return nextAt !== undefined && now - nextAt > LATE_MS
}

/** `0 3 * * *` or `every 10 min`. */
export function whenOf({ cron, everyMs = 0 }: Schedule): string {
  return cron ?? `every ${span(everyMs)}`
}

export function zoneOf({ timeZone }: Schedule): string {
  return timeZone ?? pageZone()
}

/** An instant as the page tells it, and beneath it as a clock of the schedule shows it, if that is another. */
export function InBoth({
  at,
  schedule,
  now,
}: {
  readonly at: number
  readonly schedule: Schedule
  readonly now: number
}) {
  const own = zoneOf(schedule)
  const { day, time, offset } = wallOf(at, own)
  const here = wallOf(at, pageZone())
  const isSame = here.offset === offset
  return (
    <span class="both">
      <time title={fullInstant(at)}>{instant(at, now)}</time>
      {!isSame && (
        <span class="weak" title={`${wallText(at, own)}, ${own}`}>
          {here.day === day ? time : `${day} ${time}`} {offset}
        </span>
      )}
    </span>
  )
}

export const FIRED = {
  started: ['completed', 'Started'],
  queued: ['ready', 'Queued'],
  skipped: ['skipped', 'Skipped'],
  missed: ['cancelled', 'Missed'],
  failed: ['failed', 'Failed'],
} as const satisfies Record<Firing['status'], readonly [string, string]>
