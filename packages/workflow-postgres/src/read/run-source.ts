import { type RunConditions, storedStatus } from '@belay/workflow/adapter'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { idAfter, idAt, idsWith, isUuid, MADE_AFTER_MS, MADE_BEFORE_MS } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import { liveStatuses } from '../rows/run-statuses.ts'
import {
  andShownAs,
  fits,
  hasTags,
  isCreatedWithin,
  isFinishedWithin,
  isPartOfRunning,
  standingIn,
  storedStatuses,
} from './run-conditions.ts'

/** Where matching runs are read from. */
export interface RunSource {
  /** The `with` clause of a statement that reads from this source. */
  readonly with: Sql
  /** Rows `id, definition_id, status, start_at` of matching runs. */
  rows(conditions: RunConditions, page: Page): Sql
}

interface Page {
  /** Only runs older than this one. */
  readonly before?: string | undefined
  /** Only runs newer than this one: then the oldest of them instead of the newest. */
  readonly after?: string | undefined
  readonly limit: number
  /** True: the newest runs, in order. False: any runs, which is cheaper and enough for counting. */
  readonly newest: boolean
}

// How many runs are collected and sorted at most: some ten milliseconds. With more, walking from the newest is faster.
const FEW = 10_000

/**
 * Reads from the cheapest source of runs with all these conditions. A key has its own index. Key prefixes, tags and end times have an index too, which is used if
 * few runs match: this is checked first, up to a limit. In all other cases it walks from the newest run on, in the order of an index: by workflow and
 * status, or by id alone.
 */
export async function readFrom<Answer>(
  connection: Connection,
  conditions: RunConditions,
  read: (connection: Connection, source: RunSource) => Promise<Answer>,
): Promise<Answer> {
  const { key, parentId, waitingFor } = conditions
  if (key !== undefined) return read(connection, keyed(key))
  if (parentId !== undefined) return read(connection, childrenOf(parentId))
  if (waitingFor !== undefined) return read(connection, waitingIn(waitingFor))
  if (!mayBeNear(conditions)) return read(connection, WALKED)
  return connection.transaction(async (transaction) => {
    for (const { by, runs } of nearRuns(conditions)) {
      await searchBy(transaction, by)
      const looking = sql`select count(*)::int as runs from (${runs}) looked_at`
      const [row] = await query<{ readonly runs: number }>(transaction, looking)
      if (row!.runs <= FEW) return read(transaction, gathered(runs))
    }
    await searchBy(transaction, 'order')
    return read(transaction, WALKED)
  })
}

function mayBeNear(others: RunConditions): boolean {
  const { keyPrefix, tags, createdAfter, createdBefore, finishedAfter, finishedBefore } = others
  return [keyPrefix, tags, createdAfter, createdBefore, finishedAfter, finishedBefore].some(
    (condition) => condition !== undefined,
  )
}

/**
 * Restricts the indexes that the planner may use in the rest of the transaction, whatever the statistics and the session's settings say. The index of
 * tags can only be read as a bitmap. A walk follows the order of an index; a bitmap would have to be read and sorted as a whole. Only a plan for the
 * given values can turn the beginning of a key into a range of its index.
 */
async function searchBy(transaction: Connection, by: Search): Promise<void> {
  const bitmaps = by === 'bitmaps' ? 'on' : 'off'
  await query(
    transaction,
    sql`select set_config('enable_bitmapscan', ${bitmaps}, true), set_config('enable_seqscan', 'off', true),
      set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
      set_config('plan_cache_mode', 'force_custom_plan', true)`,
  )
}

type Search = 'bitmaps' | 'order'

/** Runs a statement that was built here. Not prepared, because its text depends on the conditions. */
export function query<Row>(connection: Connection, statement: Sql): Promise<readonly Row[]> {
  return connection.query<Row>({ name: null, text: statement.text }, statement.values)
}

/** Conditions that few runs may match, each with an index of its own. Each query returns at most one run more than few. */
function nearRuns(conditions: RunConditions): readonly { readonly by: Search; readonly runs: Sql }[] {
  const { keyPrefix, tags, finishedAfter } = conditions
  const found = sql`select r.id, r.definition_id, r.workflow, r.status, r.key, r.tags, r.start_at, r.created_at, r.finished_at from belay.workflow_runs r`
  const near: { readonly by: Search; readonly runs: Sql }[] = []
  if (keyPrefix !== undefined) {
    // A range of the index if the database sorts by bytes, as with the collation C; else all keys of these workflows are looked at, without their runs.
    const runs = sql`select held.* from ${workflowsOf(conditions)} as known
      cross join lateral (${found} where r.workflow = known.name and r.key like ${begins(keyPrefix)}) held limit ${FEW + 1}`
    near.push({ by: 'order', runs })
  }
  if (tags !== undefined) {
    const runs = sql`${found} where r.tags is not null and ${hasTags(tags)} limit ${FEW + 1}`
    near.push({ by: 'bitmaps', runs })
  }
  // Most of a history ended before a given instant, but few runs may have ended since one.
  if (finishedAfter !== undefined) {
    const ended = sql`r.finished_at is not null and ${and(isFinishedWithin(conditions))}`
    const runs = sql`${found} where ${ended} order by r.finished_at, r.id limit ${FEW + 1}`
    near.push({ by: 'order', runs })
  }
  return near
}

/** The pattern of `like` for texts that begin so. */
function begins(prefix: string): string {
  return `${prefix.replaceAll(/[\\%_]/g, '\\$&')}%`
}

function gathered(near: Sql): RunSource {
  return {
    with: sql`with near_runs as materialized (${near}) `,
    rows: (conditions, page) => newestOf(sql`near_runs`, fits(conditions), page),
  }
}

/** A key belongs to one run of each workflow. */
function keyed(key: string): RunSource {
  return {
    with: empty,
    rows: (conditions, page) => {
      const found = sql`(select held.* from ${workflowsOf(conditions)} as known
        cross join lateral (
          select r.* from belay.workflow_runs r where r.workflow = known.name and r.key = ${key}
        ) held)`
      return newestOf(found, fits({ ...conditions, key: undefined }), page)
    },
  }
}

/** In the order of the parent's own index. */
function childrenOf(parentId: string): RunSource {
  if (!isUuid(parentId)) return NONE
  return {
    with: empty,
    rows: (conditions, page) => {
      const found = sql`(select r.* from belay.workflow_children c
        join belay.workflow_runs r on r.id = any (array[c.run_id])
        where c.parent_run_id = ${parentId}::uuid)`
      return newestOf(found, fits({ ...conditions, parentId: undefined }), page)
    },
  }
}

/** Reads the line of all that wait, newest first, and looks at the runs of as many as are wanted. */
function waitingIn(line: NonNullable<RunConditions['waitingFor']>): RunSource {
  return {
    with: empty,
    // The condition itself is among those of each run: what stands in the line may not wait any more.
    rows: (conditions, page) => sql`
      with line as materialized (select distinct w.run_id from (${standingIn(line)}) w)
      select r.id, r.definition_id, r.status, r.start_at
      from (select l.run_id from line l where true${andWithin(pageBounds(page), byId(sql`l.run_id`))} order by l.run_id${direction(page)}) l
      cross join lateral (
        select r.* from belay.workflow_runs r where r.id = any (array[l.run_id]) and ${fits(conditions)}
      ) r
      order by l.run_id${direction(page)}
      limit ${page.limit}`,
  }
}

const NONE: RunSource = {
  with: empty,
  rows: () => sql`select r.id, r.definition_id, r.status, r.start_at from belay.workflow_runs r where false`,
}

function newestOf(relation: Sql, condition: Sql, page: Page): Sql {
  return sql`select r.id, r.definition_id, r.status, r.start_at from ${relation} r
    where ${condition}${andWithin(pageBounds(page), byId(sql`r.id`))} order by r.id${direction(page)} limit ${page.limit}`
}

/** Of the order by id. */
function direction({ after }: Page): Sql {
  return after === undefined ? sql` desc` : empty
}

function pageBounds({ before, after }: Page): IdBounds {
  return { from: after === undefined ? undefined : (idAfter(after) ?? LAST_ID), until: before?.toLowerCase() }
}

/** The bounds within both. Uuids sort alike as texts. */
function bothBounds(one: IdBounds, other: IdBounds): IdBounds {
  const given = (ids: readonly (string | undefined)[]) => ids.filter((id) => id !== undefined).sort()
  return { from: given([one.from, other.from]).at(-1), until: given([one.until, other.until])[0] }
}

const WALKED: RunSource = {
  with: empty,
  rows(conditions, page) {
    const { idPrefix, createdAfter, createdBefore, finishedBefore } = conditions
    const wanted = idPrefix === undefined ? pageBounds(page) : bothBounds(pageBounds(page), idsWith(idPrefix))
    if (createdAfter === undefined && createdBefore === undefined && finishedBefore === undefined) {
      return walked({ ...conditions, idPrefix: undefined }, wanted, page)
    }
    // Strays are found by their own index only; otherwise they would be counted twice.
    const others = { ...conditions, idPrefix: undefined, stray: false }
    const strays = newestOf(straysOf(conditions), fits(conditions), page)
    return sql`select r.id, r.definition_id, r.status, r.start_at from (
      (${walked(others, bothBounds(wanted, madeWithin(conditions)), page)}) union all (${strays})
    ) r${page.newest ? sql` order by r.id${direction(page)}` : empty} limit ${page.limit}`
  },
}

/** Bounds of run ids: `from` inclusive, `until` exclusive. */
interface IdBounds {
  readonly from?: string | undefined
  readonly until?: string | undefined
}

/** Uses the strays' own index, in an order of its own: the planner cannot know that they are few. */
function straysOf(conditions: RunConditions): Sql {
  const condition = and([sql`r.stray`, ...isCreatedWithin(conditions)])
  return sql`(select r.* from belay.workflow_runs r where ${condition} order by r.created_at offset 0)`
}

/**
 * One walk for each workflow and status. Otherwise it would scan all other runs to find the newest. Only what is shown of running runs takes one walk for
 * all workflows: the walk of a workflow in which few runs fit would look at the steps of all others.
 */
function walked(conditions: RunConditions & { readonly stray?: boolean }, bounds: IdBounds, page: Page): Sql {
  const { workflow, status } = conditions
  if (workflow !== undefined || !isPartOfRunning(status)) return walkedByWorkflow(conditions, bounds, page)
  const running = status!.filter((shown) => storedStatus(shown) === 'running')
  const others = status!.filter((shown) => storedStatus(shown) !== 'running')
  const parts = [walkedRunning({ ...conditions, status: running }, bounds, page)]
  if (others.length > 0) parts.push(walkedByWorkflow({ ...conditions, status: others }, bounds, page))
  return sql`select found.id, found.definition_id, found.status, found.start_at from (
      (${join(parts, ') union all (')})
    ) found${page.newest ? sql` order by found.id${direction(page)}` : empty} limit ${page.limit}`
}

/** Along the index of live runs: a bound by the id, in a row of its own, makes the planner take it, whatever the statistics say. */
function walkedRunning(
  { stray, ...conditions }: RunConditions & { readonly stray?: boolean },
  bounds: IdBounds,
  page: Page,
): Sql {
  return sql`with ending as materialized (select ${bounds.until ?? LAST_ID}::uuid as id)
    select found.id, found.definition_id, found.status, found.start_at from ending cross join lateral (
      select r.id, r.definition_id, r.status, r.start_at from belay.workflow_runs r
      where r.status in (${raw(liveStatuses)}) and r.id < ending.id and ${fits(conditions)}${stray === false ? sql` and r.stray is null` : empty}${andWithin({ from: bounds.from }, byId(sql`r.id`))}
      order by r.id${direction(page)}
      limit ${page.limit}
    ) found`
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function walkedByWorkflow(
  conditions: RunConditions & { readonly stray?: boolean },
  bounds: IdBounds,
  page: Page,
): Sql {
  const { workflow, status, stray, ...others } = conditions
  const condition = sql`${fits(others)}${stray === false ? sql` and r.stray is null` : empty}`
  if (workflow === undefined && status === undefined) {
    return sql`select r.id, r.definition_id, r.status, r.start_at from belay.workflow_runs r
      where ${condition}${andWithin(bounds, byId(sql`r.id`))}
      order by r.id${direction(page)} limit ${page.limit}`
  }
  // Bounds as rows, and an order that only this index has. By id alone, a planner that expects many such runs would search all runs.
  const placed = (id: string): [Sql, Sql] => [
    sql`(r.workflow, r.status, r.id)`,
    sql`(known.name, stored.status, ${id}::uuid)`,
  ]
  return sql`select found.id, found.definition_id, found.status, found.start_at from ${workflowsOf(conditions)} as known
    cross join unnest(${listText(storedStatuses(status))}::text[]) as stored (status)
    cross join lateral (
      select r.id, r.definition_id, r.status, r.start_at from belay.workflow_runs r
      where r.workflow = any (array[known.name]) and r.status = stored.status${andShownAs(status)} and ${condition}${andWithin(bounds, placed)}
      order by r.workflow${direction(page)}, r.id${direction(page)}
      limit ${page.limit}
    ) found${page.newest ? sql` order by found.id${direction(page)}` : empty}
    limit ${page.limit}`
}

/** Compares by the id alone. */
function byId(column: Sql): (id: string) => readonly [Sql, Sql] {
  return (id) => [column, sql`${id}::uuid`]
}

function andWithin({ from, until }: IdBounds, placed: (id: string) => readonly [Sql, Sql]): Sql {
  const compared = (id: string | undefined, operator: Sql) => {
    if (id === undefined) return empty
    const [place, bound] = placed(id)
    return sql` and ${place} ${operator} ${bound}`
  }
  return sql`${compared(from, sql`>=`)}${compared(until, sql`<`)}`
}

function workflowsOf({ workflow }: RunConditions): Sql {
  return workflow === undefined
    ? sql`(select distinct name from belay.workflow_definitions)`
    : sql`(select distinct name from unnest(${listText(workflow)}::text[]) as named (name))`
}

/** Bounds for the ids of runs that are no strays. A run that ended before an instant was created before it. */
function madeWithin({ createdAfter, createdBefore, finishedBefore }: RunConditions): IdBounds {
  const before = Math.min(createdBefore ?? Infinity, finishedBefore ?? Infinity)
  return {
    from: createdAfter === undefined ? undefined : idAt(createdAfter - MADE_BEFORE_MS),
    until: before === Infinity ? undefined : idAt(before + MADE_AFTER_MS),
  }
}

function and(conditions: readonly Sql[]): Sql {
  return join(conditions, ' and ')
}
