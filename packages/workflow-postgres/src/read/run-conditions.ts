import {
  RUN_STATUSES,
  type RunConditions,
  type RunStatus,
  SHOWN_OF_RUNNING,
  type StoredRunStatus,
  storedStatus,
} from '@belay/workflow/adapter'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { listText } from '../connection/list-text.ts'
import { waitingStep } from '../rows/waiting-step.ts'

/**
 * What a matching run `r` must fulfil. For filtering, not for index searches: the planner must stay with the index that the list walks, so conditions
 * that have an index of their own are written so that they cannot use it.
 */
export function fits(conditions: RunConditions): Sql {
  const { workflow, status, key, tags, parentId, waitingFor } = conditions
  const checks: Sql[] = []
  if (workflow !== undefined) checks.push(sql`(r.workflow = any (${listText(workflow)}::text[])) is true`)
  if (status !== undefined) checks.push(statusFits(status))
  if (key !== undefined) checks.push(sql`(r.key = ${key}) is true`)
  if (parentId !== undefined) checks.push(sql`(r.parent_run_id::text = ${parentId.toLowerCase()}) is true`)
  if (tags !== undefined) checks.push(sql`(${hasTags(tags)}) is true`)
  if (waitingFor !== undefined) checks.push(waitsFor(waitingFor))
  checks.push(
    ...isCreatedWithin(conditions),
    ...isFinishedWithin(conditions).map((check) => sql`(${check}) is true`),
  )
  return checks.length === 0 ? sql`true` : join(checks, ' and ')
}

/** By the run: few of its steps wait. */
function waitsFor(line: LimitLine): Sql {
  return sql`exists (select from (${linesOfWaiting(line)}) w where w.run_id = any (array[r.id]) offset 0)`
}

type LimitLine = NonNullable<RunConditions['waitingFor']>

/** Rows `run_id` of steps that stand in this line, or were given an instant of this rate. */
export function linesOfWaiting({ limit, key }: LimitLine): Sql {
  const ofKey = (row: Sql) => (key === undefined ? empty : sql` and ${row}.key = ${key}`)
  return sql`select w.run_id from belay.workflow_limit_waiters w
    where w.limit_name = ${limit}${ofKey(sql`w`)} and ${raw(waitingStep('w'))}
    union all
    select s.run_id from belay.workflow_limit_slots s
    where s.limit_name = ${limit}${ofKey(sql`s`)} and s.is_given and s.at_ms > belay.store_ms() and ${raw(waitingStep('s'))}`
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
  return sql` and (r.status <> 'running' or ${SHOWN_STATUS} = any (${listText(shown)}::text[]))`
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

/** As shown to users: a running run may be scheduled or waiting. */
export const SHOWN_STATUS = sql`belay.shown_status(r.id, r.status, r.start_at)`
