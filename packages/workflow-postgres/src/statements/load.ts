import type { JsonText } from '@belay/workflow/adapter'
import type { OwnedRun, Payloads, StoredMail } from '@belay/workflow/store'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type OwnedRow, ownedColumns, ownedRun } from './owned-run.ts'

/** Runs that a worker owns. Index: primary key, or live by owner. No locks. */
const loadNamed: Statement<OwnedRow> = {
  name: null,
  text: `
select ${ownedColumns('true')}
from unnest($2::uuid[]) as wanted (run_id)
join belay.workflow_live l on l.run_id = any (array[wanted.run_id])
join belay.workflow_runs r on r.id = any (array[l.run_id])
where l.owner + 0 = $1::int`,
}
const loadOthers: Statement<OwnedRow> = {
  name: null,
  text: `
select ${ownedColumns('true')}
from belay.workflow_live l
join belay.workflow_runs r on r.id = any (array[l.run_id])
where l.owner = $1::int and l.run_id <> all ($2::uuid[])`,
}

/** Runs as they are stored. Index: primary keys. No locks. */
const peekRuns: Statement<OwnedRow> = {
  name: null,
  text: `
select ${ownedColumns('true')}
from unnest($1::uuid[]) as wanted (run_id)
join belay.workflow_runs r on r.id = any (array[wanted.run_id])
left join belay.workflow_live l on l.run_id = any (array[r.id])`,
}

export async function load(
  connection: Connection,
  worker: number,
  which: { readonly only: readonly string[] } | { readonly except: readonly string[] },
): Promise<readonly OwnedRun[]> {
  const rows = await ('only' in which
    ? connection.query(loadNamed, [worker, which.only])
    : connection.query(loadOthers, [worker, which.except]))
  return rows.map((row) => ownedRun(row, true))
}

export async function peek(connection: Connection, runs: readonly string[]): Promise<readonly OwnedRun[]> {
  return (await connection.query(peekRuns, [runs])).map((row) => ownedRun(row, true))
}

interface MailRow {
  readonly run_id: string
  readonly sequence: string
  readonly key: string
  readonly event: JsonText
  readonly payload: JsonText
}

const MAIL_COLUMNS =
  'm.run_id::text as run_id, m.sequence::text as sequence, m.key, m.event::text as event, m.payload::text as payload'
const MAIL_MAX = 2_000

/** What was sent while the worker owned its run. Index: mail by who was seen. No locks. */
const readHinted: Statement<MailRow> = {
  name: 'read_hinted_mail',
  text: `
select ${MAIL_COLUMNS} from belay.workflow_mail m
where m.applied_at is null and m.seen = $1::int order by m.sequence limit ${MAIL_MAX}`,
}

/** All mail of a worker’s runs: a run may have moved while its mail came. Index: live by owner, mail that is not applied. No locks. */
const readAll: Statement<MailRow> = {
  name: 'read_mail',
  text: `
select ${MAIL_COLUMNS} from belay.workflow_mail m
where m.applied_at is null and (select l.owner from belay.workflow_live l where l.run_id = m.run_id) = $1::int
order by m.sequence limit ${MAIL_MAX}`,
}

export async function mailOf(
  connection: Connection,
  worker: number,
  how: 'hinted' | 'all',
): Promise<readonly (StoredMail & { readonly run: string })[]> {
  const rows = await connection.query(how === 'hinted' ? readHinted : readAll, [worker])
  return rows.map(({ run_id: run, sequence, key, event, payload }) => ({
    run,
    sequence: Number(sequence),
    key,
    event,
    payload,
  }))
}

/** What units were given and gave. Index: primary key. No locks. */
const readPayloads: Statement<{
  readonly run_id: string
  readonly unit: number
  readonly item: JsonText
  readonly output: JsonText
  readonly error: JsonText
}> = {
  name: null,
  text: `
select s.run_id::text as run_id, s.unit, s.item::text as item, s.output::text as output, coalesce(s.undo_error, s.error)::text as error
from unnest($1::uuid[], $2::int[]) as wanted (run_id, unit)
join belay.workflow_steps s on s.run_id = any (array[wanted.run_id]) and s.unit = any (array[wanted.unit])`,
}

export async function payloads(
  connection: Connection,
  wanted: readonly { readonly run: string; readonly no: number }[],
): Promise<readonly Payloads[]> {
  const rows = await connection.query(readPayloads, [
    wanted.map(({ run }) => run),
    wanted.map(({ no }) => no),
  ])
  return rows.map(({ run_id: run, unit: no, item, output, error }) => ({ run, no, item, output, error }))
}
