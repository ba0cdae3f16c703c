import type {
  Committed,
  Identity,
  Member,
  PlainEnd,
  Release,
  TurnedRun,
  WrittenStep,
} from '@belay/workflow/store'
import { SHARED_LOCK_WAIT_MS } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { type Column, GUARD, instantOf, placeOf, Query } from './query.ts'
import { addMail } from './send.ts'
import { addStarts } from './start.ts'

const GATE = '(select is_open from gate)'

/**
 * Writes what folds changed of many runs: all of it or nothing. Each fence is asked by the run alone: with the owner in the condition, statistics of a moment
 * when nobody owned anything choose the owner’s index, and ten milliseconds become 245. Index: primary keys. Locks: the worker (shared), then own rows of
 * steps and runs, which nobody else writes; waits half a second for a key or an outcome of a user’s transaction.
 */
export async function commit(
  connection: Connection,
  { worker, epoch }: Identity,
  members: readonly Member[],
): Promise<Committed> {
  const query = new Query()
  query.values.push(worker, epoch)
  query.part('lock_wait', `select set_config('lock_timeout', '${SHARED_LOCK_WAIT_MS}ms', true)`)
  query.part('worker', GUARD.replace('from belay', 'from lock_wait, belay'))
  query.part(
    'members',
    `select m.run_id, coalesce((${OWN_FENCE}) = m.fence, false) as is_own from ${query.rows('m', members, FENCES)}`,
  )
  query.part(
    'gate',
    'select exists (select from worker) and not exists (select from members where not is_own) as is_open',
  )
  addSteps(query, members)
  addRuns(query, members)
  const mail = members.flatMap((member) => member.mail)
  const starts = members.flatMap((member) => member.starts)
  if (mail.length > 0) addMail(query, mail, GATE)
  if (starts.length > 0) addStarts(query, starts, { gate: GATE, owner: 'null::int' })
  const statement = query.statement<CommittedRow>(
    'commit',
    `select exists (select from worker) as is_alive, (select array_agg(run_id) from members where not is_own) as strange,
  ${starts.length > 0 ? '(select array_agg(id) from started_runs)' : 'null::uuid[]'} as started,
  ${mail.length > 0 ? '(select array_agg(distinct coalesce(seen, 0)) from sent_mail)' : 'null::int[]'} as notify`,
  )
  const [row] = await connection.query(statement, query.values)
  const { is_alive: isAlive, strange, started, notify } = row!
  if (!isAlive) return { result: 'behind' }
  if (strange !== null) return { result: 'strange', runs: strange }
  return {
    result: 'committed',
    started: started ?? [],
    notify: (notify ?? []).map((owner) => (owner === 0 ? null : owner)),
  }
}

interface CommittedRow {
  readonly is_alive: boolean
  readonly strange: readonly string[] | null
  readonly started: readonly string[] | null
  readonly notify: readonly number[] | null
}

const OWN_FENCE =
  'select case when l.owner = $1::int then l.fence end from belay.workflow_live l where l.run_id = m.run_id'

const FENCES: readonly Column<Member>[] = [
  ['run_id', 'uuid', ({ run }) => run],
  ['fence', 'int', ({ fence }) => fence],
]

const RUN: Column<unknown, { readonly run: string }> = ['run_id', 'uuid', (_, { run }) => run]
const UNIT: Column<{ readonly no: number }> = ['unit', 'int', ({ no }) => no]
const DROPPED: Column<number> = ['unit', 'int', (no) => no]

const ENDS: readonly Column<PlainEnd, Member>[] = [
  RUN,
  UNIT,
  ['output', 'json', ({ output }) => output ?? 'null'],
  ['has_output', 'boolean', ({ output }) => output !== null],
  ['started_at', 'float8', ({ startedAt }) => startedAt],
  ['finished_at', 'float8', ({ finishedAt }) => finishedAt],
]

/** No JSON text is empty, and no instant is not a number: they stand for what stays as it is. */
const STAYS = ''
const kept = (text: string | null | undefined): string | null => (text === undefined ? STAYS : text)
const keptAt = (instant: number | null | undefined): number | null =>
  instant === undefined ? Number.NaN : instant

const COUNTS: readonly Column<WrittenStep, Member>[] = [
  RUN,
  UNIT,
  ['status', 'text', ({ status }) => status],
  ['round', 'int', ({ round }) => round],
  ['attempt', 'int', ({ attempt }) => attempt],
  ['failures', 'int', ({ failures }) => failures],
  ['losses', 'int', ({ losses }) => losses],
  ['due', 'float8', ({ due }) => due],
  ['undo_attempt', 'int', ({ undo }) => undo?.attempt ?? null],
  ['undo_failures', 'int', ({ undo }) => undo?.failures ?? null],
  ['undo_losses', 'int', ({ undo }) => undo?.losses ?? null],
  ['undo_due', 'float8', ({ undo }) => undo?.due ?? null],
  ['state', 'text', ({ state }) => state],
  ['output', 'text', ({ output }) => kept(output)],
  ['error', 'text', ({ error }) => kept(error)],
  ['started_at', 'float8', ({ startedAt }) => keptAt(startedAt)],
  ['finished_at', 'float8', ({ finishedAt }) => keptAt(finishedAt)],
]

const UPDATES: readonly Column<WrittenStep, Member>[] = [
  ...COUNTS,
  ['output_of', 'int', ({ outputOf }) => outputOf ?? null],
  ['is_undo', 'boolean', ({ isUndo }) => isUndo ?? false],
]

const BIRTHS: readonly Column<WrittenStep, Member>[] = [
  ...COUNTS,
  ['scope', 'int', ({ scope }) => scope],
  ['name', 'text', ({ name }) => name],
  ['index', 'int', ({ index }) => index],
  ['label', 'text', ({ label }) => label],
  ['item', 'text', ({ item }) => item ?? null],
]

/** A column of one direction: written if the row is about that, and it is given. */
function directed(column: string, isUndo: boolean, given: string, stays: string): string {
  const own = `s.${isUndo ? 'undo_' : ''}${column}`
  return `case when ${isUndo ? 'not u.is_undo' : 'u.is_undo'} or ${stays} then ${own} else ${given} end`
}

const instantStays = (column: string): string => `u.${column} = 'NaN'`

const UPDATED = ['started_at', 'finished_at'].flatMap((column) =>
  [false, true].map((isUndo) => directed(column, isUndo, instantOf(`u.${column}`), instantStays(column))),
)

function addSteps(query: Query, members: readonly Member[]): void {
  const drops = query.rowsOf('u', members, (member) => member.drops, [RUN, DROPPED])
  const own = 's.run_id = any (array[u.run_id]) and s.unit = any (array[u.unit])'
  if (drops !== null) {
    query.part('dropped_steps', `delete from belay.workflow_steps s using ${drops} where ${own} and ${GATE}`)
  }
  const births = query.rowsOf('u', members, (member) => member.births, BIRTHS)
  if (births !== null) query.part('born_steps', `${INSERT} from ${births} where ${GATE}`)
  const ends = query.rowsOf('u', members, (member) => member.ends, ENDS)
  if (ends !== null) {
    query.part(
      'ended_steps',
      `update belay.workflow_steps s
      set status = 'completed', attempt = 1, due = null, state = null, output = case when u.has_output then u.output end, worker_id = $1::int,
        started_at = ${instantOf('u.started_at')}, finished_at = ${instantOf('u.finished_at')}
      from ${ends} where ${own} and ${GATE}`,
    )
  }
  const updates = query.rowsOf('u', members, (member) => member.updates, UPDATES)
  if (updates !== null) query.part('changed_steps', `${update(updates)} where ${own} and ${GATE}`)
}

const INSERT = `insert into belay.workflow_steps (run_id, unit, scope, name, index, label, status, round, attempt, failures, losses, due,
        undo_attempt, undo_failures, undo_losses, undo_due, state, item, output, error, started_at, finished_at, worker_id)
      select u.run_id, u.unit, u.scope, u.name, u.index, u.label, u.status, u.round, u.attempt, u.failures, u.losses, ${instantOf('u.due')},
        u.undo_attempt, u.undo_failures, u.undo_losses, ${instantOf('u.undo_due')}, u.state::json, u.item::json,
        nullif(u.output, '')::json, nullif(u.error, '')::json, ${instantOf(`nullif(u.started_at, 'NaN')`)},
        ${instantOf(`nullif(u.finished_at, 'NaN')`)}, case when u.started_at <> 'NaN' then $1::int end`

const update = (rows: string): string => `update belay.workflow_steps s
      set status = u.status, round = u.round, attempt = u.attempt, failures = u.failures, losses = u.losses, due = ${instantOf('u.due')},
        undo_attempt = u.undo_attempt, undo_failures = u.undo_failures, undo_losses = u.undo_losses, undo_due = ${instantOf('u.undo_due')},
        state = u.state::json,
        output = case when u.output_of is not null
          then (select o.output from belay.workflow_steps o where o.run_id = u.run_id and o.unit = u.output_of)
          when u.output = '' then s.output else u.output::json end,
        error = ${directed('error', false, 'u.error::json', `u.error = ''`)},
        undo_error = ${directed('error', true, 'u.error::json', `u.error = ''`)},
        started_at = ${UPDATED[0]}, undo_started_at = ${UPDATED[1]}, finished_at = ${UPDATED[2]}, undo_finished_at = ${UPDATED[3]},
        worker_id = case when u.started_at <> 'NaN' then $1::int else s.worker_id end
      from ${rows}`

const TURNS: readonly Column<TurnedRun, Member>[] = [
  RUN,
  ['status', 'text', ({ status }) => status],
  ['deadline_at', 'float8', ({ deadlineAt }) => deadlineAt],
  ['priority', 'int', ({ priority }) => priority],
  ['paused', 'boolean', ({ paused }) => paused],
  ['parked', 'boolean', ({ parked }) => parked],
  ['state', 'text', ({ state }) => state],
  ['cause', 'text', ({ cause }) => kept(cause)],
  ['finished_at', 'float8', ({ finishedAt }) => finishedAt],
  ['fence', 'int', (_, { after, fence }) => (after === 'ends' ? fence : null)],
]

const LIVE: readonly Column<Member>[] = [
  ...FENCES,
  ['begun', 'boolean', ({ begun }) => begun],
  ['found', 'boolean', ({ found }) => found],
  ['due', 'float8', ({ after }) => releaseOf(after)?.due ?? null],
  ['lead', 'int', ({ after }) => releaseOf(after)?.lead ?? null],
]

const releaseOf = (after: Member['after']): Release | null => (typeof after === 'object' ? after : null)

function addRuns(query: Query, members: readonly Member[]): void {
  const turned = query.rowsOf('u', members, ({ turned: turn }) => (turn === null ? [] : [turn]), TURNS)
  const ended = members.filter(({ after }) => after === 'ends')
  const left = ended.filter((member) => member.turned === null)
  const live = members.filter(
    ({ after, begun, found }) => after !== 'ends' && (typeof after === 'object' || begun || found),
  )
  if (turned !== null) query.part('turned_runs', turn(turned))
  if (left.length > 0) {
    query.part(
      'left_runs',
      `update belay.workflow_runs r set fence = u.fence
      from ${query.rows('u', left, FENCES)} where r.id = any (array[u.run_id]) and ${GATE}`,
    )
  }
  if (ended.length > 0) {
    query.part(
      'ended_runs',
      `delete from belay.workflow_live l using ${query.rows('u', ended, FENCES)} where l.run_id = any (array[u.run_id]) and ${GATE}`,
    )
  }
  if (live.length > 0) query.part('live_runs_changed', release(query.rows('u', live, LIVE)))
  addMarks(query, members)
}

const turn = (rows: string): string => `update belay.workflow_runs r
      set status = u.status, deadline_at = ${instantOf('u.deadline_at')}, priority = u.priority, paused = u.paused, parked = u.parked,
        state = u.state::json, cause = case when u.cause = '' then r.cause else u.cause::json end,
        finished_at = ${instantOf('u.finished_at')}, fence = u.fence
      from ${rows} where r.id = any (array[u.run_id]) and ${GATE}`

const release = (rows: string): string => `update belay.workflow_live l
      set begun = l.begun or u.begun, lost = l.lost and not u.found, owner = case when u.due is null then l.owner end,
        due = coalesce(${instantOf('u.due')}, l.due), lead = coalesce(u.lead, l.lead),
        place = case when ${instantOf('u.due')} <= belay.store_now() then ${placeOf(instantOf('u.due'), 'u.lead')} end
      from ${rows} where l.run_id = any (array[u.run_id]) and ${GATE}`

const APPLIED: readonly Column<Member['applied'][number]>[] = [
  ['sequence', 'bigint', ({ sequence }) => sequence],
  ['answer', 'text', ({ answer }) => answer],
]

const TOMBSTONES: readonly Column<string, Member>[] = [RUN, ['key', 'text', (key) => key]]

/** Marks of mail: what was applied, and outcomes that no transaction may commit any more. */
function addMarks(query: Query, members: readonly Member[]): void {
  const applied = query.rowsOf('u', members, (member) => member.applied, APPLIED)
  if (applied !== null) {
    query.part(
      'applied_mail',
      `update belay.workflow_mail m set applied_at = belay.store_now(), answer = u.answer::json
      from ${applied} where m.sequence = any (array[u.sequence]) and ${GATE}`,
    )
  }
  const tombstones = query.rowsOf('u', members, (member) => member.tombstones, TOMBSTONES)
  if (tombstones !== null) {
    query.part(
      'tombstones',
      `insert into belay.workflow_mail (run_id, key, sent_at, applied_at)
      select u.run_id, u.key, belay.store_now(), belay.store_now() from ${tombstones} where ${GATE}`,
    )
  }
}
