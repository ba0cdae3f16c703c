import type { Claimed, ClaimRequest, Identity, OwnedRun } from '@belay/workflow/store'
import type { Connection } from '../connection/connection.ts'
import { type OwnedRow, ownedColumns, ownedRun } from './owned-run.ts'
import { GUARD, placeOf, Query } from './query.ts'

/** How many runs with mail one look passes. */
const LOOKED_AT_MAX = 1_000

/** A look from the first place on that takes longer than this, and so much more for each run, passes rows that a long transaction elsewhere keeps. */
const SLOW_MS = 20
const SLOW_MS_A_RUN = 0.2
/** How long claims then go on where the last one ended. */
const MARK_MS = 2_000
const FIRST_PLACE = '-infinity'

/** Where the claims of a worker go on, while looks from the first place on are slow. Runs with earlier places come with the next of these. */
export interface ClaimMark {
  place: string
  /** Instant of `performance.now()`. */
  until: number
}

export const newMark = (): ClaimMark => ({ place: FIRST_PLACE, until: 0 })

/**
 * Takes runs that nobody owns: those that are due, by place, and those with mail. A run that nobody ever owned has the rows of its definition, so none
 * travel. Index: live by place and by due, for each definition; mail that is not applied; primary keys. Locks: the worker (shared), live rows of runs without
 * owner, skipping locked ones.
 */
export async function claim(
  connection: Connection,
  { worker, epoch }: Identity,
  { definitions, max, mailed }: ClaimRequest,
  mark: ClaimMark = newMark(),
): Promise<Claimed> {
  const query = new Query()
  const began = performance.now()
  const isFromFirst = began >= mark.until
  if (isFromFirst) mark.place = FIRST_PLACE
  query.values.push(worker, epoch, definitions, max, mark.place)
  query.part('worker', GUARD)
  addDue(query)
  const found = mailed === 'none' ? 'due_runs' : addMailed(query, mailed)
  query.part(
    'claimed_runs',
    `update belay.workflow_live l set owner = $1::int, fence = l.fence + 1, due = 'infinity', place = null
    from (select run_id, place from ${found}) x where l.run_id = any (array[x.run_id])
    returning l.run_id, l.fence, l.begun, l.lost, x.place as was_at`,
  )
  const passed = typeof mailed === 'object' ? PASSED : 'null::text'
  const rows = await connection.query(
    query.statement<ClaimedRow>('claim', selectClaimed(passed)),
    query.values,
  )
  const [{ next_ms: nextMs, mail_after: mailAfter, last_place: lastPlace }] = rows as readonly [ClaimedRow]
  const now = performance.now()
  if (isFromFirst && now - began > SLOW_MS + SLOW_MS_A_RUN * rows.length) mark.until = now + MARK_MS
  mark.place = lastPlace ?? mark.place
  const runs = rows.flatMap((row) => (row.id === null ? [] : [ownedRun(row as OwnedRow, row.fence! > 1)]))
  return { runs, nextMs, mailAfter }
}

interface ClaimedRow extends Omit<OwnedRow, 'id'> {
  readonly id: string | null
  readonly next_ms: number | null
  readonly mail_after: string | null
  readonly last_place: string | null
}

/** Due runs: such as have a place, and such as have become due since the last sweep. */
function addDue(query: Query): void {
  const candidates = (condition: string, by: string, place: string) => `
      (select l.run_id, ${place} as place from worker w cross join unnest($3::int[]) d (id)
      cross join lateral (
        select c.run_id, c.due, c.place, c.lead from belay.workflow_live c
        where c.definition_id = d.id and c.owner is null and ${condition}
        order by ${by} limit $4::int for update skip locked
      ) l)`
  query.part(
    'due_runs',
    `select run_id, place from (${candidates('c.place >= $5::timestamptz', 'c.place', 'l.place')}
      union all ${candidates('c.place is null and c.due <= belay.store_now()', 'c.due', placeOf('l.due', 'l.lead'))}
    ) found order by place, run_id limit $4::int`,
  )
}

const PASSED = `(select case when count(*) = ${LOOKED_AT_MAX} then max(run_id::text) end from letters)`

/** Runs with mail. The cursor walks over distinct runs, however much mail one has. */
function addMailed(query: Query, mailed: Exclude<ClaimRequest['mailed'], 'none'>): string {
  if (mailed === 'hinted') {
    query.part(
      'letters',
      `select distinct run_id from (
        select m.run_id from belay.workflow_mail m where m.applied_at is null and m.seen is null order by m.sequence limit ${LOOKED_AT_MAX}
      ) newest`,
    )
  } else {
    const after = `coalesce(${query.value(mailed.after)}::uuid, '00000000-0000-0000-0000-000000000000')`
    const next = (than: string) =>
      `select m.run_id from belay.workflow_mail m where m.applied_at is null and m.run_id > ${than} order by m.run_id limit 1`
    query.part(
      'letters',
      `with recursive walk (run_id) as (
        (${next(after)})
        union all
        select (${next('walk.run_id')}) from walk where walk.run_id is not null
      )
      select run_id from walk where run_id is not null limit ${LOOKED_AT_MAX}`,
    )
  }
  // The owner is compared so that no partial index of live fits: statistics of a moment could choose one, and read all of it for each letter.
  query.part(
    'mailed_runs',
    `select x.run_id from worker w cross join letters m cross join lateral (
      select l.run_id from belay.workflow_live l
      where l.run_id = m.run_id and coalesce(l.owner, 0) = 0 and l.definition_id = any ($3::int[]) for update skip locked
    ) x limit $4::int`,
  )
  return '(select run_id, max(place) as place from (select run_id, place from due_runs union all select run_id, null from mailed_runs) each_kind group by run_id) both_kinds'
}

/** As text that any session reads alike. */
const LAST_PLACE = `(select to_char(max(was_at) at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' from claimed_runs)`

/** There is always one row, for what the claim tells besides runs. */
const selectClaimed = (mailAfter: string): string => `
select told.next_ms, told.mail_after, ${LAST_PLACE} as last_place, c.*
from (
  select (
    select (extract(epoch from min(n.due) - belay.store_now()) * 1000)::float8
    from unnest($3::int[]) d (id) cross join lateral (
      select l.due from belay.workflow_live l
      where l.definition_id = d.id and l.owner is null and l.place is null and l.due > belay.store_now() and l.due < 'infinity'
      order by l.due limit 1
    ) n
  ) as next_ms, ${mailAfter} as mail_after
) told
left join (
  select ${ownedColumns('l.fence > 1')}
  from claimed_runs l join belay.workflow_runs r on r.id = any (array[l.run_id])
) c on true`

/**
 * The same for named runs, whatever they wait for. Such as have ended are live again, under the lock of their rows. Index: primary keys. Locks: the worker
 * (shared), live rows, skipping locked ones; rows of runs.
 */
export async function take(
  connection: Connection,
  { worker, epoch }: Identity,
  runs: readonly string[],
): Promise<readonly OwnedRun[]> {
  const query = new Query()
  query.values.push(worker, epoch, runs)
  query.part('worker', GUARD)
  query.part('wanted', 'select distinct t.run_id from worker w cross join unnest($3::uuid[]) t (run_id)')
  query.part(
    'free_runs',
    `select x.run_id from wanted t cross join lateral (
      select l.run_id from belay.workflow_live l where l.run_id = t.run_id and coalesce(l.owner, 0) = 0 for update skip locked
    ) x`,
  )
  query.part(
    'taken_runs',
    `update belay.workflow_live l set owner = $1::int, fence = l.fence + 1, due = 'infinity', place = null
    from free_runs x where l.run_id = any (array[x.run_id])
    returning l.run_id, l.fence, l.begun, l.lost`,
  )
  query.part(
    'reopened_runs',
    `insert into belay.workflow_live (run_id, definition_id, owner, fence, lead, begun, due)
    select r.id, r.definition_id, $1::int, coalesce(r.fence, 0) + 1, r.priority, true, 'infinity'
    from (
      select r.id, r.definition_id, r.fence, r.priority from belay.workflow_runs r
      where r.id in (select t.run_id from wanted t) and r.finished_at is not null for update
    ) r
    on conflict do nothing
    returning run_id, fence, begun, lost`,
  )
  const statement = query.statement<OwnedRow>(
    'take',
    `select ${ownedColumns('true')}
from (select * from taken_runs union all select * from reopened_runs) l
join belay.workflow_runs r on r.id = any (array[l.run_id])`,
  )
  return (await connection.query(statement, query.values)).map((row) => ownedRun(row, true))
}
