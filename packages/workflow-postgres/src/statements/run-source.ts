import type { RunConditions } from '@belay/workflow/adapter'
import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import {
  andShownAs,
  fits,
  hasTags,
  isCreatedWithin,
  isFinishedWithin,
  storedStatuses,
} from './run-conditions.ts'

/** Where runs that fit are taken from, newest first. */
export interface RunSource {
  /** What goes before a statement that takes from it. */
  readonly with: SQL
  /** Rows `id, status, start_at` of the newest runs that fit. */
  newest(
    conditions: RunConditions,
    page: { readonly before?: string | undefined; readonly limit: number },
  ): SQL
}

// Runs that are gathered and put in order: some ten milliseconds. Among more, the newest are found sooner one by one.
const FEW = 10_000

/**
 * The cheapest way to runs with all these conditions. By key, the index for that. By tags, or by when they ended, the index for that if
 * few have them: whether they are few is looked at first, up to a limit. Everything else by walking from the newest run on, in an order
 * that an index has: by workflow and status, or by id alone. No statement depends on statistics for more than that.
 */
export async function sourceFor(connection: Connection, conditions: RunConditions): Promise<RunSource> {
  if (conditions.key !== undefined) return keyed(conditions.key)
  for (const near of nearRuns(conditions)) {
    const probe = sql`select count(*)::int as runs from (select ${near} limit ${FEW + 1}) looked_at`
    const [row] = await query<{ readonly runs: number }>(connection, probe)
    if (row!.runs <= FEW) return gathered(near)
  }
  return WALKED
}

/** Runs one statement that was put together here. Not prepared: its text depends on what is asked for. */
export function query<Row>(connection: Connection, statement: SQL): Promise<readonly Row[]> {
  const { sql: text, params } = dialect.sqlToQuery(statement)
  return connection.query<Row>({ name: null, text }, params)
}

const dialect = new PgDialect()

/** What may be few runs, each found by an index of its own. */
function nearRuns(conditions: RunConditions): readonly SQL[] {
  const columns = sql`r.id, r.workflow, r.status, r.key, r.tags, r.start_at, r.created_at, r.finished_at from belay.workflow_runs r`
  const { tags, finishedAfter } = conditions
  return [
    ...(tags === undefined ? [] : [sql`${columns} where r.tags is not null and ${hasTags(tags)}`]),
    // Those that ended before an instant are most of a history, those since one may be few.
    ...(finishedAfter === undefined
      ? []
      : [
          sql`${columns} where r.finished_at is not null and ${and(isFinishedWithin(conditions))} order by r.finished_at, r.id`,
        ]),
  ]
}

function gathered(near: SQL): RunSource {
  return {
    with: sql`with near_runs as materialized (select ${near}) `,
    newest: (conditions, page) => newestOf(sql`near_runs`, sql`${fits(conditions)}`, page),
  }
}

/** A key belongs to one run of each workflow. */
function keyed(key: string): RunSource {
  return {
    with: sql``,
    newest: (conditions, page) => {
      const found = sql`(select held.* from ${workflowsOf(conditions)} as known
        cross join lateral (
          select r.* from belay.workflow_runs r where r.workflow = known.name and r.key = ${key}
        ) held)`
      return newestOf(found, fits({ ...conditions, key: undefined }), page)
    },
  }
}

type Page = Parameters<RunSource['newest']>[1]

function newestOf(relation: SQL, condition: SQL, { before, limit }: Page): SQL {
  return sql`select r.id, r.status, r.start_at from ${relation} r where ${condition}${andOlder(before)} order by r.id desc limit ${limit}`
}

function andOlder(before: string | undefined): SQL {
  return before === undefined ? sql`` : sql` and r.id < ${before}::uuid`
}

const RUNS = sql`belay.workflow_runs`

const WALKED: RunSource = {
  with: sql``,
  newest(conditions, page) {
    const { createdAfter, createdBefore, finishedBefore } = conditions
    if (createdAfter === undefined && createdBefore === undefined && finishedBefore === undefined) {
      return walked(conditions, sql``, page)
    }
    const strays = newestOf(
      RUNS,
      sql`belay.is_stray(r.id, r.created_at) and ${and([...isCreatedWithin(conditions), fits(conditions)])}`,
      page,
    )
    return sql`select r.id, r.status, r.start_at from (
      (${walked(conditions, andMadeWithin(conditions), page)}) union all (${strays})
    ) r order by r.id desc limit ${page.limit}`
  },
}

/** Once for each workflow and status, since only then the newest are found without walking over all others. */
function walked(conditions: RunConditions, andBounds: SQL, page: Page): SQL {
  const { workflow, status, ...others } = conditions
  const condition = sql`${fits(others)}${andBounds}`
  if (workflow === undefined && status === undefined) return newestOf(RUNS, condition, page)
  return sql`select found.id, found.status, found.start_at from ${workflowsOf(conditions)} as known
    cross join unnest(${listText(storedStatuses(status))}::text[]) as stored (status)
    cross join lateral (
      select r.id, r.status, r.start_at from belay.workflow_runs r
      where r.workflow = any (array[known.name]) and r.status = stored.status${andShownAs(status)} and ${condition}${andOlder(page.before)}
      -- An order that only this index has: by id alone, a planner that expects many such runs would look for them among all runs.
      order by r.workflow desc, r.id desc
      limit ${page.limit}
    ) found
    order by found.id desc
    limit ${page.limit}`
}

function workflowsOf({ workflow }: RunConditions): SQL {
  return workflow === undefined
    ? sql`(select distinct name from belay.workflow_definitions)`
    : sql`(select distinct name from unnest(${listText(workflow)}::text[]) as named (name))`
}

// What is no stray was made at most two minutes before it was created, and at most one after; the time in an id is known to 66 seconds.
const MADE_BEFORE_MS = 120_000
const MADE_AFTER_MS = 126_000

/** Bounds for the ids of runs that are no strays. A run that ended before an instant was created before it. */
function andMadeWithin({ createdAfter, createdBefore, finishedBefore }: RunConditions): SQL {
  const before = Math.min(createdBefore ?? Infinity, finishedBefore ?? Infinity)
  const from =
    createdAfter === undefined ? sql`` : sql` and r.id >= ${idAt(createdAfter - MADE_BEFORE_MS)}::uuid`
  const until = before === Infinity ? sql`` : sql` and r.id < ${idAt(before + MADE_AFTER_MS)}::uuid`
  return sql`${from}${until} and not belay.is_stray(r.id, r.created_at)`
}

const ID_MS_MAX = 2 ** 48 - 1

/** The smallest id that can be made in that millisecond. */
function idAt(epochMs: number): string {
  const ms = Math.min(Math.max(Math.floor(epochMs), 0), ID_MS_MAX)
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

function and(conditions: readonly SQL[]): SQL {
  return sql.join([...conditions], sql` and `)
}
