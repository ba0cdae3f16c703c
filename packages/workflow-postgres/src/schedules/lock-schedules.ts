import type { FoundSchedule, OpenFiring, RunStatus, SchedulesToChange } from '@belay/workflow/adapter'
import { boundedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import {
  decodeFiring,
  decodeSchedule,
  type FiringRow,
  firingColumns,
  type ScheduleRow,
  scheduleColumns,
} from './schedule-columns.ts'
import { wholeNow } from './whole-now.ts'

/** Locks schedules by name. Index: primary key. Locks: schedules, by name; waits for the given time. */
export const lockSchedules: Statement<ScheduleRow> = {
  name: 'lock_schedules',
  text: `
with ${boundedLockWait('$2')},
wanted_schedules as materialized (
  select n.name from unnest($1::text[]) as n (name)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by n.name collate "C"
)
select ${scheduleColumns}
from wanted_schedules w
join belay.workflow_schedules s on s.name = any (array[w.name])
for no key update of s`,
}

/** The same, but leaves out locked ones. Locks: schedules, skipping locked ones. */
export const lockFreeSchedules: Statement<ScheduleRow> = {
  name: 'lock_free_schedules',
  text: `
select ${scheduleColumns}
from unnest($1::text[]) as wanted (name)
join belay.workflow_schedules s on s.name = any (array[wanted.name])
for no key update of s skip locked`,
}

/**
 * The open firings of schedules, with the present statuses of their runs. Runs after the lock, so its snapshot shows what earlier holders of the lock
 * wrote. Index: the partial index of open firings, runs by primary key. No locks.
 */
export const readOpenFirings: Statement<
  FiringRow & { readonly schedule: string; readonly run_status: RunStatus | null }
> = {
  name: 'read_open_firings',
  text: `
select f.schedule, ${firingColumns}, belay.shown_status(r.id, r.status, r.start_at) as run_status
from unnest($1::text[]) as wanted (name)
join belay.workflow_firings f on f.is_open and f.schedule = any (array[wanted.name])
left join belay.workflow_runs r on r.id = any (array[f.run_id])
order by f.schedule, f.sequence`,
}

/** Locks the schedules, and reads what `decide` needs. Names without a schedule come with null, unless they may have been skipped as locked. */
export async function lock<Answer>(
  connection: Connection,
  { names, skipLocked }: Pick<SchedulesToChange<Answer>, 'names' | 'skipLocked'>,
  waits: string,
): Promise<readonly FoundSchedule[]> {
  const distinct = [...new Set(names)]
  const rows =
    skipLocked === true
      ? await connection.query(lockFreeSchedules, [distinct])
      : await connection.query(lockSchedules, [distinct, waits])
  const locked = new Map(rows.map((row) => [row.name, decodeSchedule(row)]))
  const at = await wholeNow(connection)
  const open = new Map<string, OpenFiring[]>()
  for (const row of locked.size === 0 ? [] : await connection.query(readOpenFirings, [[...locked.keys()]])) {
    const firings = open.get(row.schedule) ?? []
    open.set(row.schedule, firings)
    firings.push({ ...decodeFiring(row), runStatus: row.run_status })
  }
  return distinct
    .filter((name) => skipLocked !== true || locked.has(name))
    .map((name) => ({ name, schedule: locked.get(name) ?? null, open: open.get(name) ?? [], now: at }))
}
