import type {
  AttemptResult,
  Direction,
  JsonText,
  KeptAttempt,
  RunChange,
  RunToChange,
} from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { countedAttempts } from './claim-row.ts'
import { rowName, templateOf } from './item-rows.ts'
import { stepIs } from './step-lookup.ts'

/**
 * What a statement that ends attempts adds to keep them: columns that its update of the steps `s` returns, and a CTE that inserts them. Both are
 * empty if attempts are not kept, and then cost nothing.
 */
export interface Keeping {
  readonly columns: string
  readonly rows: string
}

export const NOT_KEPT: Keeping = { columns: '', rows: '' }

/** The columns of an updated step that describe its attempt. Give `attempts` if the update changes the count itself. */
export function keptColumns(attempts = countedAttempts): string {
  return `,
    s.step as kept_step, s.fence as kept_fence, s.round as kept_round, s.undo_of is not null as kept_undo,
    case when s.undo_of is null then ${attempts} else s.undo_attempts end as kept_attempt,
    case when s.undo_of is null then s.started_at else s.undo_started_at end as kept_started_at`
}

/** The CTE; put it after the CTE named `from`. `ended` and the others are expressions on its rows `e`. */
export function keptRows(
  from: string,
  of: { ended: string; error?: string; worker?: string; where?: string },
): string {
  const { ended, error = 'null', worker = '$1::uuid', where = 'true' } = of
  return `,
kept_attempts as (
  insert into belay.workflow_attempts (run_id, step, fence, round, attempt, undo, worker_id, started_at, finished_at, ended, error)
  select e.run_id, e.kept_step, e.kept_fence, e.kept_round, e.kept_attempt, e.kept_undo, ${worker}, e.kept_started_at,
    belay.store_now(), ${ended}, ${error}::json
  from ${from} e
  where ${where}
  on conflict do nothing
)`
}

/** Keeps the attempts of handlers that an operator gives up. Runs in the transaction that holds the lock on their run. Index: primary key. */
export const keepGivenUp: Statement<{ readonly kept: number }> = {
  name: 'keep_given_up',
  text: `
with given_up as (
  insert into belay.workflow_attempts (run_id, step, fence, round, attempt, undo, worker_id, started_at, finished_at, ended, error)
  select $1::uuid, g.step, g.fence, g.round, g.attempt, g.undo, g.worker_id, to_timestamp(g.started_at / 1000), belay.store_clock(),
    'given_up', g.error::json
  from unnest($2::int[], $3::int[], $4::int[], $5::int[], $6::bool[], $7::uuid[], $8::float8[], $9::text[])
    as g (step, fence, round, attempt, undo, worker_id, started_at, error)
  on conflict do nothing
  returning 1
)
select count(*)::int as kept from given_up`,
}

/** Renumbers a run's kept attempts by the steps of its new definition. Guarantee: the lock on the run is the guard. */
export const moveKeptAttempts: Statement<{ readonly moved: number }> = {
  name: 'move_kept_attempts',
  text: `
with removed_attempts as (
  delete from belay.workflow_attempts a
  where a.run_id = $1::uuid
  returning a.run_id, a.step, a.fence, a.round, a.attempt, a.undo, a.worker_id, a.started_at, a.finished_at, a.ended, a.error
),
moved_attempts as (
  insert into belay.workflow_attempts (run_id, step, fence, round, attempt, undo, worker_id, started_at, finished_at, ended, error)
  select a.run_id, move.step, a.fence, a.round, a.attempt, a.undo, a.worker_id, a.started_at, a.finished_at, a.ended, a.error
  from removed_attempts a
  join unnest($2::int[], $3::int[]) as move (old_step, step) on move.old_step = a.step
  -- Inserts only after all are removed: two steps may swap numbers.
  where (select count(*) from removed_attempts) > 0
  returning 1
)
select count(*)::int as moved from moved_attempts`,
}

interface KeptRow {
  readonly step: number
  readonly name: string
  readonly undo: boolean
  readonly round: number
  readonly attempt: number
  readonly worker_id: string | null
  readonly started_at: number | null
  readonly finished_at: number
  readonly ended: AttemptResult
  readonly error: JsonText
}

/** The newest kept attempts of a run, in the order in which they ended. Index: primary keys. No locks. */
export const readKeptAttempts: Statement<KeptRow> = {
  name: 'read_kept_attempts',
  text: `
select newest.step, ${rowName} as name, newest.undo, newest.round, newest.attempt, newest.worker_id,
  (extract(epoch from newest.started_at) * 1000)::float8 as started_at,
  (extract(epoch from newest.finished_at) * 1000)::float8 as finished_at, newest.ended, newest.error::text as error
from (
  select a.* from belay.workflow_attempts a
  where a.run_id = $1::uuid
  order by a.finished_at desc, a.step desc, a.fence desc
  limit $2::int
) newest
join belay.workflow_runs r on r.id = any (array[newest.run_id])
join belay.workflow_steps s on s.run_id = any (array[newest.run_id]) and ${stepIs('s', 'newest.step')}
join belay.workflow_definition_steps ds
  on ds.definition_id = any (array[r.definition_id]) and ds.step = any (array[${templateOf('newest.step')}])
order by newest.finished_at, newest.step, newest.fence`,
}

export async function readAttempts(
  connection: Connection,
  { runId, limit }: { readonly runId: string; readonly limit: number },
): Promise<readonly KeptAttempt[]> {
  if (!isUuid(runId)) return []
  const rows = await connection.query(readKeptAttempts, [runId, limit])
  return rows.map((row) => ({
    step: row.step,
    name: row.name,
    direction: directionOf(row.undo),
    round: row.round,
    attempt: row.attempt,
    workerId: row.worker_id,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    ended: row.ended,
    error: row.error,
  }))
}

function directionOf(undo: boolean): Direction {
  return undo ? 'undo' : 'forward'
}

/** Keeps the attempts that a change takes away from their workers. */
export async function keepTaken(
  connection: Connection,
  found: RunToChange,
  { steps }: RunChange,
): Promise<void> {
  const taken = steps.flatMap((change) => {
    const step = found.steps[change.step]
    if (step === undefined || step.workerId === null || change.workerId !== null) return []
    if (step.status !== 'running' && step.status !== 'compensating') return []
    return [{ step, told: step.undo ?? step, error: change.undoError ?? change.error ?? null }]
  })
  if (taken.length === 0) return
  await connection.query(keepGivenUp, [
    found.run.runId,
    taken.map(({ step }) => step.step),
    taken.map(({ step }) => step.fence),
    taken.map(({ step }) => step.round),
    taken.map(({ told }) => told.attempts),
    taken.map(({ step }) => step.undo !== null),
    taken.map(({ step }) => step.workerId),
    taken.map(({ told }) => told.startedAt),
    taken.map(({ error }) => error),
  ])
}
