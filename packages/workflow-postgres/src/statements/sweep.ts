import type { Swept } from '@belay/workflow/store'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { placeOf } from './query.ts'
import { REOPENED } from './send.ts'

/** How many rows one look takes. What is left is there for the next one. */
const ROWS_MAX = 5_000

/** Declares workers dead whose lease is over; one whose row is locked is not silent. Locks: their rows, skipping locked ones. */
const declareDead: Statement<{ readonly id: string }> = {
  name: null,
  text: `
update belay.workflow_workers set alive = false
where number in (
  select number from belay.workflow_workers where alive and lease_expires_at < belay.store_now() for update skip locked
)
returning id::text`,
}

/** Runs of dead workers are nobody’s. Index: live by owner. Locks: their live rows, skipping locked ones. */
const loseRuns: Statement<{ readonly runs: number }> = {
  name: null,
  text: `
with lost_runs as (
  select l.run_id from belay.workflow_workers w
  cross join lateral (
    select run_id from belay.workflow_live where owner = w.number limit ${ROWS_MAX} for update skip locked
  ) l
  where not w.alive
),
freed_runs as (
  update belay.workflow_live l
  set owner = null, lost = true, due = belay.store_now(), place = ${placeOf('belay.store_now()', 'l.lead')}
  from lost_runs x where l.run_id = any (array[x.run_id])
  returning l.run_id
)
select count(*)::int as runs from freed_runs`,
}

/** Dead workers that own nothing any more. Locks: their rows. */
const forgetDead: Statement<never> = {
  name: null,
  text: `
delete from belay.workflow_workers w
where not w.alive and w.lease_expires_at < belay.store_now() - interval '1 hour'
  and not exists (select from belay.workflow_live l where l.owner = w.number)`,
}

/** Runs whose time has come get their place. Index: live by due, for each definition. Locks: their live rows, skipping locked ones. */
const placeDue: Statement<{ readonly runs: number }> = {
  name: null,
  text: `
with due_runs as (
  select l.run_id from belay.workflow_definitions d
  cross join lateral (
    select run_id from belay.workflow_live
    where definition_id = d.id and owner is null and place is null and due <= belay.store_now()
    order by due limit ${ROWS_MAX} for update skip locked
  ) l
),
placed_runs as (
  update belay.workflow_live l set place = ${placeOf('l.due', 'l.lead')}
  from due_runs x where l.run_id = any (array[x.run_id])
  returning l.run_id
)
select count(*)::int as runs from placed_runs`,
}

/** Mail that came too late, or that its run goes on with. Index: mail that is not applied. Locks: such mail and the runs’ rows, skipping locked ones. */
const answerLate: Statement<never> = {
  name: null,
  text: `
with late_mail as (
  select m.sequence, m.run_id, m.reopens from belay.workflow_mail m
  -- A lookup for each: joined, all that is live could be read, of which a million may sleep.
  where m.applied_at is null and (select true from belay.workflow_live l where l.run_id = m.run_id) is null
  limit ${ROWS_MAX} for update of m skip locked
),
given_mail as (
  select distinct run_id from late_mail where reopens
),
reopened_runs as (${REOPENED})
update belay.workflow_mail m set applied_at = belay.store_now(), answer = '"too late"'
from late_mail x where m.sequence = any (array[x.sequence]) and not x.reopens`,
}

/** Five statements, each of which may come alone: what one leaves is there for the next sweep. */
export async function sweep(connection: Connection): Promise<Swept> {
  const dead = await connection.query(declareDead, [])
  const [lost] = await connection.query(loseRuns, [])
  const [placed] = await connection.query(placeDue, [])
  await connection.query(answerLate, [])
  await connection.query(forgetDead, [])
  return { dead: dead.map(({ id }) => id), runs: lost!.runs, placed: placed!.runs }
}
