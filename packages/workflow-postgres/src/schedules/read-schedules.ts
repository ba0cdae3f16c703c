import type { Adapter, FiringRecord, ScheduleRecord, SchedulesFilter } from '@belay/workflow/adapter'
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

/** Schedules that are due, the longest due first. Index: the partial index of due times; reads no schedule that is not due. No locks. */
export const readDueSchedules: Statement<ScheduleRow> = {
  name: 'read_due_schedules',
  text: `
select ${scheduleColumns}
from belay.workflow_schedules s
where s.due_at is not null and s.due_at <= belay.store_now()
order by s.due_at, s.name
limit $1::int`,
}

/** Schedules by name. Index: primary key. No locks. */
export const readNamedSchedules: Statement<ScheduleRow> = {
  name: 'read_named_schedules',
  text: `
select ${scheduleColumns}
from unnest($1::text[]) as wanted (name)
join belay.workflow_schedules s on s.name = any (array[wanted.name])
order by s.name
limit $2::int`,
}

/** Schedules whose newest firing failed. Index: the partial index of failed firings, then schedules by primary key. No locks. */
export const readFailingSchedules: Statement<ScheduleRow> = {
  name: 'read_failing_schedules',
  text: `
with failed_firings as materialized (
  select f.schedule, f.sequence from belay.workflow_firings f where f.status = 'failed' order by f.schedule, f.sequence
)
select ${scheduleColumns}
from failed_firings f
join belay.workflow_schedules s on s.name = any (array[f.schedule])
where s.firings = any (array[f.sequence])
order by f.schedule
limit $1::int`,
}

/** A page of schedules in the order of their names. Index: primary key, walked from the last name on. No locks. */
export const listSchedules: Statement<ScheduleRow> = {
  name: 'list_schedules',
  text: `
select ${scheduleColumns}
from belay.workflow_schedules s
where s.name > $1::text and ($2::bool is null or (s.paused_at is not null) = $2::bool)
  and ($3::bool is null or s.declared = $3::bool)
order by s.name
limit $4::int`,
}

/** The same among the declared ones. Index: the partial index of declared schedules, walked from the last name on. No locks. */
export const listDeclaredSchedules: Statement<ScheduleRow> = {
  name: 'list_declared_schedules',
  text: `
select ${scheduleColumns}
from belay.workflow_schedules s
where s.declared and s.name > $1::text and ($2::bool is null or (s.paused_at is not null) = $2::bool)
order by s.name
limit $3::int`,
}

/** The same of one workflow. Index: (workflow, name), walked from the last name on. No locks. */
export const listSchedulesOf: Statement<ScheduleRow> = {
  name: 'list_schedules_of',
  text: `
select ${scheduleColumns}
from belay.workflow_schedules s
where s.workflow = $1::text and s.name > $2::text and ($3::bool is null or (s.paused_at is not null) = $3::bool)
  and ($4::bool is null or s.declared = $4::bool)
order by s.name
limit $5::int`,
}

/** A schedule's firings, newest first. Index: primary key, walked from the end. No locks. */
export const readFiringsOf: Statement<FiringRow> = {
  name: 'read_firings',
  text: `
select ${firingColumns}
from belay.workflow_firings f
where f.schedule = $1::text and f.sequence < $2::int
order by f.sequence desc
limit $3::int`,
}

/** A schedule's firings that wait, oldest first. Index: the partial index of open firings. No locks. */
export const readQueuedFirings: Statement<FiringRow> = {
  name: 'read_queued_firings',
  text: `
select ${firingColumns}
from belay.workflow_firings f
where f.is_open and f.schedule = $1::text and f.status = 'queued' and f.sequence < $2::int
order by f.sequence
limit $3::int`,
}

const SEQUENCE_MAX = 2 ** 31 - 1

export async function readSchedules(
  connection: Connection,
  filter: SchedulesFilter,
): Promise<{ readonly schedules: readonly ScheduleRecord[]; readonly now: number }> {
  const rows = await rowsOf(connection, filter)
  return { schedules: rows.map(decodeSchedule), now: await wholeNow(connection) }
}

async function rowsOf(connection: Connection, filter: SchedulesFilter): Promise<readonly ScheduleRow[]> {
  const { names, workflow, paused = null, declared = null, due, after = '', limit } = filter
  if (due === true) return connection.query(readDueSchedules, [limit])
  if (filter.failing === true) return connection.query(readFailingSchedules, [limit])
  if (names !== undefined) return connection.query(readNamedSchedules, [[...new Set(names)], limit])
  if (workflow !== undefined)
    return connection.query(listSchedulesOf, [workflow, after, paused, declared, limit])
  if (declared === true) return connection.query(listDeclaredSchedules, [after, paused, limit])
  return connection.query(listSchedules, [after, paused, declared, limit])
}

export async function readFirings(
  connection: Connection,
  { name, queued, before = SEQUENCE_MAX, limit }: Parameters<Adapter['readFirings']>[0],
): Promise<readonly FiringRecord[]> {
  const statement = queued === true ? readQueuedFirings : readFiringsOf
  return (await connection.query(statement, [name, before, limit])).map(decodeFiring)
}
