import type { JsonText } from '@belay/workflow/adapter'
import type { Mail, Sent } from '@belay/workflow/store'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type Column, placeOf, Query } from './query.ts'

/**
 * Ended runs of `given_mail` go on. The lock of the run’s row keeps it from being pruned meanwhile, and two of these from meeting.
 */
export const REOPENED = `
  insert into belay.workflow_live (run_id, definition_id, fence, lead, begun, due, place)
  select r.id, r.definition_id, coalesce(r.fence, 0), r.priority, true, belay.store_now(), ${placeOf('belay.store_now()', 'r.priority')}
  from (
    select r.id, r.definition_id, r.fence, r.priority from belay.workflow_runs r
    where r.id in (select m.run_id from given_mail m) and r.finished_at is not null
    for update
  ) r
  on conflict do nothing
  returning run_id, null::int as owner`

type Letter = Mail & { readonly position: number }

const COLUMNS: readonly Column<Letter>[] = [
  ['run_id', 'uuid', ({ run }) => run],
  ['key', 'text', ({ key }) => key],
  ['event', 'text', ({ event }) => event],
  ['payload', 'text', ({ payload }) => payload ?? null],
  ['reopens', 'boolean', ({ reopens }) => reopens === true],
  ['position', 'int', ({ position }) => position],
]

/** Adds what stores mail, as `sent_mail`, if `gate` holds. Locks nothing of the runs, but for those that have ended and go on. */
export function addMail(query: Query, mail: readonly Mail[], gate: string): void {
  const letters = mail.map((each, position): Letter => ({ ...each, position }))
  query.part('letters', `select * from ${query.rows('m', letters, COLUMNS)} where ${gate}`)
  const reopening = mail.some(({ reopens }) => reopens === true)
  if (reopening) {
    query.part('given_mail', 'select distinct run_id from letters where reopens')
    query.part('reopened_runs', REOPENED)
  }
  query.part(
    'sent_mail',
    `insert into belay.workflow_mail (run_id, key, event, payload, reopens, seen, sent_at)
    select m.run_id, m.key, m.event::json, m.payload::json, m.reopens, l.owner, belay.store_now()
    from letters m
    left join belay.workflow_live l on l.run_id = any (array[m.run_id])
    where l.run_id is not null or (m.reopens and exists (select from belay.workflow_runs r where r.id = m.run_id))
    order by m.position
    on conflict (run_id, key) do nothing
    returning run_id, key, sequence, seen`,
  )
}

/** What there is of mail that was not stored: it was there before, or its run has ended, or there is no such run. Index: unique (run, key), primary key. */
const readUnsent: Statement<{
  readonly sequence: string | null
  readonly payload: JsonText
  readonly answer: JsonText
  readonly is_known: boolean
}> = {
  name: null,
  text: `
select m.sequence::text, m.payload::text as payload, m.answer::text as answer, r.id is not null as is_known
from unnest($1::uuid[], $2::text[]) with ordinality as given (run_id, key, position)
left join belay.workflow_runs r on r.id = any (array[given.run_id])
left join belay.workflow_mail m on m.run_id = any (array[given.run_id]) and m.key = given.key
order by given.position`,
}

interface SentRow {
  readonly run_id: string
  readonly key: string
  readonly sequence: string
  readonly seen: number | null
}

/** Two statements where not all is stored: a fresh snapshot sees what another transaction has just committed. */
export async function send(connection: Connection, mail: readonly Mail[]): Promise<readonly Sent[]> {
  if (mail.length === 0) return []
  const query = new Query()
  addMail(query, mail, 'true')
  const statement = query.statement<SentRow>(
    'send',
    'select run_id::text, key, sequence::text, seen from sent_mail',
  )
  const stored = new Map(
    (await connection.query(statement, query.values)).map((row) => [nameOf(row.run_id, row.key), row]),
  )
  const unsent = mail.filter((each) => !stored.has(nameOf(each.run, each.key)))
  const found =
    unsent.length === 0
      ? []
      : await connection.query(readUnsent, [unsent.map(({ run }) => run), unsent.map(({ key }) => key)])
  const told = new Map(unsent.map((each, at) => [each, found[at]!]))
  const first = new Set<string>()
  return mail.map((each): Sent => {
    const name = nameOf(each.run, each.key)
    const row = stored.get(name)
    if (row !== undefined && !first.has(name)) {
      first.add(name)
      return { result: 'sent', sequence: Number(row.sequence), owner: row.seen }
    }
    // The same call has it twice.
    if (row !== undefined) {
      const { payload = null } = each
      return { result: 'duplicate', sequence: Number(row.sequence), payload, answer: null }
    }
    const { sequence, payload, answer, is_known } = told.get(each)!
    if (sequence !== null) return { result: 'duplicate', sequence: Number(sequence), payload, answer }
    return { result: is_known ? 'ended' : 'unknown' }
  })
}

const nameOf = (run: string, key: string): string => `${run} ${key}`

/** Answers to mail. Index: primary key. No locks. */
const readAnswers: Statement<{ readonly sequence: string; readonly answer: JsonText }> = {
  name: 'read_answers',
  text: `
select m.sequence::text, m.answer::text as answer
from unnest($1::bigint[]) as wanted (sequence)
join belay.workflow_mail m on m.sequence = any (array[wanted.sequence])
where m.applied_at is not null`,
}

export async function answers(
  connection: Connection,
  sequences: readonly number[],
): Promise<ReadonlyMap<number, JsonText>> {
  const rows = await connection.query(readAnswers, [sequences])
  return new Map(rows.map(({ sequence, answer }) => [Number(sequence), answer]))
}
