import {
  RUN_STATUSES,
  type RunConditions,
  type RunStatus,
  SHOWN_OF_RUNNING,
  type StoredRunStatus,
  storedStatus,
} from '@belay/workflow/adapter'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { idsWith } from '../base/uuid.ts'
import { listText } from '../connection/list-text.ts'
import { waitingStep } from '../rows/waiting-step.ts'

/**
 * What a matching run `r` must fulfil. For filtering, not for index searches: the planner must stay with the index that the list walks, so conditions
 * that have an index of their own are written so that they cannot use it.
 */
export function fits(conditions: RunConditions): Sql {
  const { workflow, version, idPrefix, status, key, keyPrefix, tags, parentId, waitingFor } = conditions
  const checks: Sql[] = []
  if (workflow !== undefined) checks.push(sql`(r.workflow = any (${listText(workflow)}::text[])) is true`)
  if (version !== undefined) checks.push(hasVersion(version))
  if (idPrefix !== undefined) checks.push(hasPrefix(idPrefix))
  if (status !== undefined) checks.push(statusFits(status))
  if (key !== undefined) checks.push(sql`(r.key = ${key}) is true`)
  if (keyPrefix !== undefined) checks.push(sql`starts_with(r.key, ${keyPrefix}) is true`)
  if (parentId !== undefined) checks.push(sql`(r.parent_run_id::text = ${parentId.toLowerCase()}) is true`)
  if (tags !== undefined) checks.push(sql`(${hasTags(tags)}) is true`)
  if (waitingFor !== undefined) checks.push(waitsFor(waitingFor))
  checks.push(
    ...isCreatedWithin(conditions),
    ...isFinishedWithin(conditions).map((check) => sql`(${check}) is true`),
  )
  return checks.length === 0 ? sql`true` : join(checks, ' and ')
}

function hasVersion(version: number): Sql {
  const versions = sql`select d.id from belay.workflow_definitions d where d.version = ${version}::int`
  return sql`(r.definition_id = any (array(${versions}))) is true`
}

function hasPrefix(prefix: string): Sql {
  const { from, until } = idsWith(prefix)
  const isBelow = until === undefined ? empty : sql` and r.id < ${until}::uuid`
  return sql`(r.id >= ${from}::uuid${isBelow}) is true`
}

/** By the run: few of its steps wait. */
function waitsFor(line: LimitLine): Sql {
  return sql`exists (select from (${standingIn(line, WAITING)}) w where w.run_id = any (array[r.id]) offset 0)`
}

type LimitLine = NonNullable<RunConditions['waitingFor']>

const WAITING = (row: string) => sql` and ${raw(waitingStep(row))}`

/** Rows `run_id` of steps that stand in this line, or were given an instant of this rate. Without `also`, some may not wait any more. */
export function standingIn({ limit, key }: LimitLine, also: (row: string) => Sql = () => empty): Sql {
  const ofKey = (row: Sql) => (key === undefined ? empty : sql` and ${row}.key = ${key}`)
  return sql`select w.run_id from belay.workflow_limit_waiters w
    where w.limit_name = ${limit}${ofKey(sql`w`)}${also('w')}
    union all
    select s.run_id from belay.workflow_limit_slots s
    where s.limit_name = ${limit}${ofKey(sql`s`)} and s.is_given and s.at_ms > belay.store_ms()${also('s')}`
}

export function hasTags(tags: readonly string[]): Sql {
  return sql`r.tags @> ${listText(tags)}::text[]`
}

export function isCreatedWithin({ createdAfter, createdBefore }: RunConditions): Sql[] {
  return isWithin(sql`r.created_at`, createdAfter, createdBefore)
}

export function isFinishedWithin({ finishedAfter, finishedBefore }: RunConditions): Sql[] {
  return isWithin(sql`r.finished_at`, finishedAfter, finishedBefore)
}

function isWithin(column: Sql, after: number | undefined, before: number | undefined): Sql[] {
  return [
    ...(after === undefined ? [] : [sql`${column} >= ${instant(after)}`]),
    ...(before === undefined ? [] : [sql`${column} < ${instant(before)}`]),
  ]
}

function instant(epochMs: number): Sql {
  return sql`timestamptz 'epoch' + ${epochMs}::float8 * interval '1 millisecond'`
}

function statusFits(statuses: readonly RunStatus[]): Sql {
  return sql`(r.status = any (${listText(storedStatuses(statuses))}::text[])) is true${andShownAs(statuses)}`
}

/** Of runs stored as running, keeps only those shown with one of these statuses. */
export function andShownAs(statuses: readonly RunStatus[] | undefined): Sql {
  const shown = statuses?.filter(isShownOfRunning)
  if (shown === undefined || shown.length === 0 || shown.length === SHOWN_OF_RUNNING.length) return empty
  return sql` and (r.status <> 'running' or ${join(
    shown.map((status) => SHOWN_AS[status]!),
    ' or ',
  )})`
}

/** The stored statuses that runs with these shown statuses may have. */
export function storedStatuses(statuses: readonly RunStatus[] = RUN_STATUSES): readonly StoredRunStatus[] {
  return [...new Set(statuses.map(storedStatus))]
}

/** Which of these shown statuses a run with that stored status may have. */
export function shownOf(
  stored: StoredRunStatus,
  statuses: readonly RunStatus[] = RUN_STATUSES,
): readonly RunStatus[] {
  return statuses.filter((status) => storedStatus(status) === stored)
}

function isShownOfRunning(status: RunStatus): boolean {
  return storedStatus(status) === 'running'
}

/** Whether only some of the runs stored as running are wanted: each must be looked at, with its steps. */
export function isPartOfRunning(statuses: readonly RunStatus[] | undefined): boolean {
  return andShownAs(statuses) !== empty
}

/** As shown to users: a running run may be scheduled or waiting. */
const SHOWN_STATUS = sql`belay.shown_status(r.id, r.status, r.start_at)`

// What the function `shown_status` computes, said without it: PostgreSQL sets up an executor for each call of a function with subqueries, which takes
// ten times as long. Compared with an array, an `exists` stays a lookup by the run: as an equation, the planner might hash the steps of all runs.
const stepOfRun = (condition: Sql) =>
  sql`exists (select from belay.workflow_steps s where s.run_id = any (array[r.id]) and ${condition})`
const IS_SCHEDULED = sql`(r.start_at is not null and r.start_at > belay.store_now())`
const WAITS = sql`(${stepOfRun(sql`s.status = 'waiting'`)} and not ${stepOfRun(sql`s.status in ('ready', 'running')`)})`
/** Only after a pivot, and few runs have a failed step: so the function is seldom called. */
const IS_PARKED = sql`(r.definition_id = any (array(select d.id from belay.workflow_definitions d where d.pivots is not null))
  and ${stepOfRun(sql`s.status = 'failed'`)} and ${SHOWN_STATUS} = 'parked')`

/** What a run stored as running must fulfil to be shown with this status. */
const SHOWN_AS: Partial<Record<RunStatus, Sql>> = {
  scheduled: IS_SCHEDULED,
  parked: sql`(not ${IS_SCHEDULED} and ${IS_PARKED})`,
  waiting: sql`(not ${IS_SCHEDULED} and ${WAITS} and not ${IS_PARKED})`,
  running: sql`(not ${IS_SCHEDULED} and not ${WAITS} and not ${IS_PARKED})`,
}

/** The status that is shown of a run `r` of which this is the stored one. */
export function shownStatus(stored: StoredRunStatus): Sql {
  if (stored !== 'running') return sql`r.status`
  const cases = (['scheduled', 'parked', 'waiting'] as const).map(
    (status) => sql`when ${SHOWN_AS[status]!} then ${status}::text`,
  )
  return sql`case ${join(cases, ' ')} else r.status end`
}
