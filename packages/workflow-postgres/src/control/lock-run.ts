import type { RunToChange, StepShape, StoredRun } from '@belay/workflow/adapter'
import { boundedLockWait, contended, lockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { countedAttempts } from '../rows/claim-row.ts'
import { FIRST_ITEM, rowName, templateOf } from '../rows/item-rows.ts'
import { readDefinitions } from '../rows/read-definitions.ts'
import { decodeRun, type RunColumns } from '../rows/run-columns.ts'
import { decodeStep, type StepColumns } from '../rows/step-columns.ts'

/** A row for each step; the first one has the run's columns. The name is missing if the step belongs to another definition than the run. */
type LockedRow = RunColumns &
  Omit<StepColumns, 'step' | 'name'> & {
    readonly step: number | null
    readonly name: string | null
    readonly status: StoredRun['status']
    readonly step_count: number
    readonly open_steps: number
    readonly stop: StoredRun['stop']
    readonly ends_as: StoredRun['endsAs']
    readonly now: number
  }

/** Only the first row has them: a run may have thousands of rows. */
const RUN_COLUMNS = inFirstRow({
  run_id: 'r.id',
  workflow: 'r.workflow',
  version: 'counted.version',
  definition_id: 'r.definition_id',
  step_count: 'counted.step_count',
  key: 'r.key',
  status: 'r.status',
  open_steps: 'r.open_steps',
  tags: 'array_to_json(r.tags)::text',
  stop: 'r.stop',
  ends_as: 'r.ends_as',
  parent_run_id: 'r.parent_run_id',
  parent_step: 'r.parent_step',
  run_priority: 'r.priority',
  cause: 'r.cause::text',
  created_at: epochMs('r.created_at'),
  finished_at: epochMs('r.finished_at'),
  start_at: epochMs('r.start_at'),
  deadline_at: epochMs('r.deadline_at'),
  now: epochMs('belay.store_clock()'),
})

/**
 * Locks a run with its steps up to a number, and reads their locked versions. Guarantee: until the transaction ends, nothing of that changes; and if
 * the items were left, no map or loop of a run that goes forward adds any, and no claim takes one. Index: primary keys. Locks: the steps that
 * workers hold, the other steps, each by number, then the run.
 */
export const lockRun: Statement<LockedRow> = {
  name: 'lock_run',
  text: `
with ${boundedLockWait('$2')},
locked_steps as materialized (
  select s.step, s.status, s.open_dependencies, s.fence, s.failures, s.losses, s.worker_id, s.undo_of,
    s.started_at, s.finished_at, s.available_at, s.waiting_since, s.signalled_at, s.failing_since,
    s.round, ${countedAttempts} as attempts, s.undo_attempts, s.undo_failures, s.undo_losses, s.undo_started_at, s.undo_finished_at,
    s.undo_skipped,
    coalesce(s.succeeded, false) as succeeded, s.branch::text as branch, s.item_key, s.at_once, s.next_item, s.item_order, s.priority
  from (values ($1::uuid)) as asked (run_id)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  join belay.workflow_steps s on s.run_id = any (array[asked.run_id])
  where s.step <= $3::int
  -- As settlements lock them: a worker's own steps, like the items of a map, before others, like their join.
  order by s.status not in ('running', 'compensating'), s.step
  for no key update of s
),
locked_run as materialized (
  select r.id, r.definition_id, r.open_steps, r.created_at, r.finished_at, r.status, r.start_at, r.deadline_at, r.stop, r.ends_as,
    r.workflow, r.key, r.tags, r.cause, r.parent_run_id, r.parent_step, r.priority
  from (values ($1::uuid)) as asked (run_id)
  join belay.workflow_runs r on r.id = any (array[asked.run_id])
  -- Locks the run last.
  cross join (select count(*) from locked_steps) as steps_were_locked
  for no key update of r
),
-- The definition's number of steps. If fewer were found, the run moved to another definition while this waited.
counted_steps as materialized (
  select (select count(*)::int from belay.workflow_definition_steps ds where ds.definition_id = r.definition_id) as step_count,
    (select d.version from belay.workflow_definitions d where d.id = r.definition_id) as version
  from locked_run r
)
select ${RUN_COLUMNS},
  s.step, ${rowName} as name, s.item_key, s.at_once, s.next_item, s.item_order, s.status as step_status, s.open_dependencies, s.fence, s.failures, s.losses, s.worker_id, s.undo_of,
  ${epochMs('s.started_at')} as step_started_at, ${epochMs('s.finished_at')} as step_finished_at,
  ${epochMs('s.available_at')} as available_at, ${epochMs('s.waiting_since')} as waiting_since,
  ${epochMs('s.signalled_at')} as signalled_at, ${epochMs('s.failing_since')} as failing_since,
  s.round, s.attempts, s.undo_attempts, s.undo_failures, s.undo_losses, ${epochMs('s.undo_started_at')} as undo_started_at,
  ${epochMs('s.undo_finished_at')} as undo_finished_at, s.undo_skipped, s.succeeded, s.branch, s.priority
from locked_run r
cross join counted_steps counted
left join locked_steps s on true
left join belay.workflow_definition_steps ds
  on ds.definition_id = any (array[r.definition_id]) and ds.step = any (array[${templateOf('s.step')}])
order by s.step`,
}

function inFirstRow(columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([name, value]) => `case when s.step = 0 then ${value} end as ${name}`)
    .join(', ')
}

function epochMs(instant: string): string {
  return `(extract(epoch from ${instant}) * 1000)::float8`
}

/** How many rows a run has now. Index: primary key. No locks. */
export const countRows: Statement<{ readonly rows: number }> = {
  name: 'count_rows',
  text: `
select count(*)::int as rows from belay.workflow_steps s where s.run_id = any (array[$1::uuid])`,
}

/**
 * Locks a run, and reads it; with `leavesItems` without its items. `moved`: it moved to another definition meanwhile, and must be locked by a new
 * statement. Null if there is no such run.
 */
export async function lock(
  connection: Connection,
  runId: string,
  { leavesItems }: { readonly leavesItems: boolean },
): Promise<RunToChange | 'moved' | null> {
  const last = leavesItems ? FIRST_ITEM - 1 : ROW_MAX
  const rows = await connection.query(lockRun, [runId, lockWait(1), last]).catch((error: unknown) => {
    throw contended(error, [runId])
  })
  const [first] = rows
  if (first === undefined) return null
  const steps = rows.filter(isOfDefinition)
  const ofDefinition = rows.filter(({ step }) => step !== null && step < FIRST_ITEM)
  if (ofDefinition.length !== first.step_count || steps.length !== rows.length) return 'moved'
  const [definition] = await readDefinitions(connection, [first.definition_id])
  if (!leavesItems && definition!.shape.steps.some(addsRows)) {
    const [counted] = await connection.query(countRows, [runId])
    // Rows were added while the lock waited, which its snapshot does not show. Now that all joins are locked, no more can be added.
    if (counted!.rows !== rows.length) return lock(connection, runId, { leavesItems })
  }
  const { status, open_steps: openSteps, stop, ends_as: endsAs, now } = first
  const run = { ...decodeRun(first), status, openSteps, stop, endsAs }
  return { run, steps: steps.map(decodeStep), shape: definition!.shape, now }
}

/** No row of a run has a greater number: the column ends there. */
const ROW_MAX = 2_147_483_647

function addsRows({ kind }: StepShape): boolean {
  return kind === 'map' || kind === 'repeat'
}

function isOfDefinition(row: LockedRow): row is LockedRow & StepColumns {
  return row.name !== null
}
