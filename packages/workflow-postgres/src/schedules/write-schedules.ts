import { FIRINGS_KEPT, type ScheduleChange, type ScheduleRecord } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

const toInstant = (column: string) => `to_timestamp(${column} / 1000)`

/**
 * Inserts schedules whose name is free. A name that another transaction has taken, and commits, is left out: its schedule must be locked first. Index:
 * primary key. Locks: new schedules, in the given order; waits for a transaction that is taking the same name.
 */
export const insertSchedules: Statement<{ readonly name: string }> = {
  name: 'insert_schedules',
  text: `
insert into belay.workflow_schedules (name, workflow, declared, revision, firings, created_at, updated_at, paused_at, next_at, due_at,
  pause_reason, spec, input)
select n.name, n.workflow, n.declared, 1, n.firings, belay.store_now(), belay.store_now(), ${toInstant('n.paused_at')},
  ${toInstant('n.next_at')}, ${toInstant('n.due_at')}, n.pause_reason, n.spec::json, n.input::json
from unnest($1::text[], $2::text[], $3::bool[], $4::int[], $5::float8[], $6::float8[], $7::float8[], $8::text[], $9::text[], $10::text[])
  as n (name, workflow, declared, firings, paused_at, next_at, due_at, pause_reason, spec, input)
order by n.name collate "C"
on conflict (name) do nothing
returning name`,
}

/** Replaces schedules that this transaction has locked. Index: primary key. Locks: none that it does not hold. */
export const updateSchedules: Statement<never> = {
  name: 'update_schedules',
  text: `
update belay.workflow_schedules s
set workflow = n.workflow, declared = n.declared, revision = s.revision + 1, firings = n.firings, updated_at = greatest(s.updated_at, belay.store_now()),
  paused_at = ${toInstant('n.paused_at')}, next_at = ${toInstant('n.next_at')}, due_at = ${toInstant('n.due_at')},
  pause_reason = n.pause_reason, spec = n.spec::json, input = n.input::json
from unnest($1::text[], $2::text[], $3::bool[], $4::int[], $5::float8[], $6::float8[], $7::float8[], $8::text[], $9::text[], $10::text[])
  as n (name, workflow, declared, firings, paused_at, next_at, due_at, pause_reason, spec, input)
where s.name = any (array[n.name])`,
}

/** Deletes schedules that this transaction has locked, with their firings. Index: primary keys. Locks: their firings. */
export const deleteSchedules: Statement<never> = {
  name: 'delete_schedules',
  text: `
with deleted_firings as (
  delete from belay.workflow_firings f using unnest($1::text[]) as n (name) where f.schedule = any (array[n.name])
)
delete from belay.workflow_schedules s using unnest($1::text[]) as n (name) where s.name = any (array[n.name])`,
}

/**
 * Writes firings of schedules that this transaction has locked, new ones and new states of open ones, and forgets those that are over and no longer
 * among the newest. Index: primary key. Locks: these firings.
 */
export const writeFirings: Statement<never> = {
  name: 'write_firings',
  text: `
with given_firings as materialized (
  select g.schedule, g.sequence, g.scheduled_at, g.until_at, g.decided_at, g.cause, g.status, g.run_id, g.is_open, g.reason
  from unnest($1::text[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::text[], $7::text[], $8::uuid[], $9::bool[], $10::text[])
    as g (schedule, sequence, scheduled_at, until_at, decided_at, cause, status, run_id, is_open, reason)
),
written_firings as (
  insert into belay.workflow_firings (schedule, sequence, scheduled_at, until_at, decided_at, cause, status, run_id, is_open, reason)
  select g.schedule, g.sequence, ${toInstant('g.scheduled_at')}, ${toInstant('g.until_at')}, ${toInstant('g.decided_at')}, g.cause, g.status,
    g.run_id, g.is_open, g.reason
  from given_firings g
  where g.is_open or g.sequence > (
    select max(o.newest) from unnest($11::text[], $12::int[]) as o (schedule, newest) where o.schedule = g.schedule
  ) - ${FIRINGS_KEPT}
  on conflict (schedule, sequence) do update
  set status = excluded.status, run_id = excluded.run_id, is_open = excluded.is_open, reason = excluded.reason
)
delete from belay.workflow_firings f
using unnest($11::text[], $12::int[]) as o (schedule, newest)
where f.schedule = any (array[o.schedule]) and f.sequence <= o.newest - ${FIRINGS_KEPT}
  and (
    (not f.is_open and not exists (
      select from given_firings g where g.schedule = f.schedule and g.sequence = f.sequence
    ))
    or exists (
      select from given_firings g where g.schedule = f.schedule and g.sequence = f.sequence and not g.is_open
    )
  )`,
}

/** A schedule to write, with its firings. */
export interface Written {
  readonly name: string
  readonly change: ScheduleChange
  readonly isNew: boolean
}

/** Writes the rows of schedules. Resolves to false, and nothing has been written, if a new name was taken meanwhile. */
export async function writeSchedules(connection: Connection, written: readonly Written[]): Promise<boolean> {
  const rowsOf = (isNew: boolean) =>
    written.flatMap(({ change, ...each }) =>
      each.isNew === isNew && change.schedule !== null ? [change.schedule] : [],
    )
  const added = rowsOf(true)
  if (added.length > 0) {
    const inserted = await connection.query(insertSchedules, columnsOf(added))
    if (inserted.length < added.length) return false
  }
  const changed = rowsOf(false)
  if (changed.length > 0) await connection.query(updateSchedules, columnsOf(changed))
  const deleted = written.flatMap(({ name, change }) => (change.schedule === null ? [name] : []))
  if (deleted.length > 0) await connection.query(deleteSchedules, [deleted])
  return true
}

/** Writes the firings. `runIdOf` tells the run of a firing whose own run was not created. */
export async function writeFiringsOf(
  connection: Connection,
  written: readonly Written[],
  runIdOf: (runId: string | null) => string | null,
): Promise<void> {
  const firings = written.flatMap(({ name, change }) =>
    change.schedule === null ? [] : change.firings.map((firing) => ({ name, ...firing })),
  )
  if (firings.length === 0) return
  const newest = written.flatMap(({ change }) =>
    change.firings.length > 0 && change.schedule !== null ? [change.schedule] : [],
  )
  await connection.query(writeFirings, [
    firings.map(({ name }) => name),
    firings.map(({ sequence }) => sequence),
    firings.map(({ scheduledAt }) => scheduledAt),
    firings.map(({ untilAt }) => untilAt),
    firings.map(({ decidedAt }) => decidedAt),
    firings.map(({ cause }) => cause),
    firings.map(({ status }) => status),
    firings.map(({ runId }) => runIdOf(runId)),
    firings.map(({ isOpen }) => isOpen),
    firings.map(({ reason }) => reason),
    newest.map(({ name }) => name),
    newest.map((schedule) => schedule.firings),
  ])
}

function columnsOf(schedules: readonly ScheduleRecord[]): readonly unknown[] {
  return [
    schedules.map(({ name }) => name),
    schedules.map(({ workflow }) => workflow),
    schedules.map(({ spec }) => spec.declared),
    schedules.map(({ firings }) => firings),
    schedules.map(({ pausedAt }) => pausedAt),
    schedules.map(({ nextAt }) => nextAt),
    schedules.map(({ dueAt }) => dueAt),
    schedules.map(({ pauseReason }) => pauseReason),
    schedules.map(({ spec }) => JSON.stringify(spec)),
    schedules.map(({ input }) => input),
  ]
}
