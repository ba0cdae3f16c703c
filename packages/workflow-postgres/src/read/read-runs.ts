import type {
  Adapter,
  DatedRun,
  ItemCount,
  ItemsToRead,
  JsonText,
  RunStatus,
  StatesOfSteps,
  StepRecord,
} from '@belay/workflow/adapter'
import sql, { raw, type Sql } from 'sql-template-tag'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { countedAttempts } from '../rows/claim-row.ts'
import { FIRST_ITEM, rowName, templateOf } from '../rows/item-rows.ts'
import { decodeRun, type RunColumns } from '../rows/run-columns.ts'
import { decodeValues, shownValues } from '../rows/shown-values.ts'
import { decodeStep, type StepColumns } from '../rows/step-columns.ts'
import {
  DIFFERING,
  differingOf,
  ITEMS_IN_RANGE,
  ITEMS_OF_EACH_STATUS,
  ITEMS_THAT_DIFFER,
  itemCounts,
} from './items-of-run.ts'
import { query } from './run-source.ts'

interface RunRow extends RunColumns {
  readonly status: RunStatus
  readonly input: JsonText
  readonly read_at: number
}

interface ListedRow extends RunRow {
  /** JSON of the states of its steps. */
  readonly steps?: string
  /** JSON of the counts of its items. */
  readonly item_counts?: string | null
}

// As shown to users: a running run may be scheduled or waiting.
const SHOWN_STATUS = 'belay.shown_status(r.id, r.status, r.start_at)'

const STORE_MS = 'belay.store_ms()'

/** The columns of a run `r` and its definition `d`. The status and the payloads are given, because some readers have them in one row only. */
function runColumns({
  status,
  input,
  cause,
  readAt,
}: Record<'status' | 'input' | 'cause' | 'readAt', string>): string {
  return `r.id as run_id, r.workflow, d.version, r.definition_id, r.key, ${status} as status, ${input} as input, ${cause} as cause,
  ${epochMs('r.created_at')} as created_at, ${epochMs('r.finished_at')} as finished_at,
  ${epochMs('r.start_at')} as start_at, ${epochMs('r.deadline_at')} as deadline_at,
  array_to_json(r.tags)::text as tags, r.parent_run_id, r.parent_step, r.priority as run_priority, ${readAt} as read_at`
}

/** One run with its steps in order and its values, in one snapshot. Index: primary keys. No locks. */
export async function readRun(
  connection: Connection,
  runId: string,
  items?: ItemsToRead,
): Promise<Awaited<ReturnType<Adapter['readRun']>>> {
  if (!isUuid(runId)) return null
  const rows = await rowsOf(connection, runId, items)
  const [first] = rows
  // Every run has a step 0; its row carries the run's payloads and values.
  if (first === undefined) return null
  const read = {
    run: runOf(first),
    steps: rows.map(stepOf),
    values: decodeValues(first.shown_values ?? '[]'),
  }
  if (items === undefined || items === 'none') return read
  if ('known' in items) return { ...read, differing: differingOf(first.differing, items) }
  return { ...read, itemCounts: JSON.parse(first.item_counts ?? '[]') as readonly ItemCount[] }
}

function rowsOf(
  connection: Connection,
  runId: string,
  items: ItemsToRead | undefined,
): Promise<readonly (RunRow & StepRow)[]> {
  if (items === undefined) return connection.query(readRunStatement, [runId])
  if (items === 'none') return connection.query(readRunWithoutItems, [runId])
  if ('known' in items) {
    const { known, after, groupsMax, outputs } = items
    const prints = [known.map(({ first }) => first), known.map(({ print }) => print)]
    return connection.query(readRunDiffering, [runId, ...prints, after, groupsMax, outputs])
  }
  if ('eachStatusMax' in items) return connection.query(readRunSample, [runId, items.eachStatusMax])
  return connection.query(readRunPart, [runId, items.after, items.before, items.limit])
}

/** The runs whose ids the given statement finds, newest first; with `steps`, also the states of their steps. Index: primary keys. No locks. */
export async function readRunsNewestFirst(
  connection: Connection,
  ids: Sql,
  { steps = false }: { readonly steps?: boolean | undefined },
): Promise<readonly DatedRun[]> {
  const columns = runColumns({
    status: SHOWN_STATUS,
    input: 'r.input::text',
    cause: 'r.cause::text',
    readAt: STORE_MS,
  })
  const rows = await query<ListedRow>(
    connection,
    sql`select ${raw(steps ? `${columns}, ${STATES}` : columns)}
from belay.workflow_runs r
join belay.workflow_definitions d on d.id = r.definition_id
where r.id = any (array(${ids}))
order by r.id desc`,
  )
  return rows.map((row) => ({ ...runOf(row), ...statesOf(row) }))
}

const OF_RUN = 'i.run_id = any (array[r.id])'

const STATES = `(select json_agg(json_build_object('step', i.step, 'status', i.status) order by i.step)::text
    from "belay"."workflow_steps" i where ${OF_RUN} and i.step < ${FIRST_ITEM}) as steps,
  (${itemCounts(OF_RUN)}) as item_counts`

function statesOf({ steps, item_counts }: ListedRow): Pick<DatedRun, 'states'> {
  if (steps === undefined) return {}
  const itemCounts = JSON.parse(item_counts ?? '[]') as readonly ItemCount[]
  return { states: { steps: JSON.parse(steps) as StatesOfSteps['steps'], itemCounts } }
}

interface StepRow extends StepColumns {
  readonly shown_values: string | null
  /** Only in the first row of a part: JSON of all counts. */
  readonly item_counts?: string | null
  /** Only in the first row: JSON of the groups of items that differ. */
  readonly differing?: string | null
  readonly output: JsonText
  readonly error: JsonText
  readonly undo_error: JsonText
  readonly irreversible: boolean
}

/** The columns of a step `s`; `ds` is its step of the definition. */
function stepColumns(output: string): string {
  return `s.step, ${rowName} as name, s.item_key, s.at_once, s.next_item, s.item_order, s.priority, s.status as step_status, s.fence, s.round,
  ${countedAttempts} as attempts, s.failures, s.losses, s.open_dependencies, s.worker_id, s.undo_of,
  ${output} as output, s.error::text as error,
  ${epochMs('s.started_at')} as step_started_at, ${epochMs('s.finished_at')} as step_finished_at,
  ${epochMs('s.available_at')} as available_at, ${epochMs('s.waiting_since')} as waiting_since,
  ${epochMs('s.signalled_at')} as signalled_at, ${epochMs('s.failing_since')} as failing_since,
  s.undo_attempts, s.undo_failures, s.undo_losses,
  ${epochMs('s.undo_started_at')} as undo_started_at, ${epochMs('s.undo_finished_at')} as undo_finished_at,
  s.undo_error::text as undo_error, s.undo_skipped, coalesce(s.succeeded, false) as succeeded, s.branch::text as branch,
  coalesce(ds.step = any (d.irreversible), false) and (s.item_key is not null or ds.kind is distinct from 'map') as irreversible`
}

/** One row per step, each with the run's columns. Only the first row has the run's status, and its payloads and values, which may be large. */
export const readRunStatement: Statement<RunRow & StepRow> = {
  name: 'read_run',
  text: runText(ofRun('')),
}

/** The same with only some items of its maps, and the counts of all. Index: primary keys. */
export const readRunPart: Statement<RunRow & StepRow> = {
  name: 'read_run_part',
  text: runText(listed(ITEMS_IN_RANGE), {
    more: `, ${inFirstRow(`(${itemCounts('i.run_id = $1::uuid')})`)} as item_counts`,
  }),
}

/** The same with some items of each map in each status, without their outputs. Index: primary keys. No locks. */
export const readRunSample: Statement<RunRow & StepRow> = {
  name: 'read_run_sample',
  text: runText(listed(ITEMS_OF_EACH_STATUS), {
    more: `, ${inFirstRow(`(${itemCounts('i.run_id = $1::uuid')})`)} as item_counts`,
    output: `case when s.step < ${FIRST_ITEM} then s.output::text end`,
  }),
}

/** The same without items. */
export const readRunWithoutItems: Statement<RunRow & StepRow> = {
  name: 'read_run_without_items',
  text: runText(ofRun(` and s.step < ${FIRST_ITEM}`)),
}

const DIFFERING_GROUPS = `(select json_agg(json_build_object('first', g.first, 'print', g.print) order by g.first)::text from differing g)`

/** The same with those groups of items that differ from what the reader knows. Index: primary keys. No locks. */
export const readRunDiffering: Statement<RunRow & StepRow> = {
  name: 'read_run_differing',
  text:
    DIFFERING +
    runText(listed(ITEMS_THAT_DIFFER), {
      more: `, ${inFirstRow(DIFFERING_GROUPS)} as differing`,
      output: `case when $6::bool or s.step < ${FIRST_ITEM} then s.output::text end`,
    }),
}

/** Which rows are read, and how the row of their run is found. */
interface RowsToRead {
  readonly where: string
  readonly run: string
}

function ofRun(condition: string): RowsToRead {
  return { where: `s.run_id = $1::uuid${condition}`, run: 'r.id = s.run_id' }
}

/**
 * The rows of a list of ctids, which are those of this statement's snapshot. By key, a plan that was made while the table was small may compare each
 * row of the run with the list, before PostgreSQL 17. So nothing here says of which run they are.
 */
function listed(ctids: string): RowsToRead {
  return { where: `s.ctid = any (array(${ctids}))`, run: 'r.id = any (array[s.run_id])' }
}

/**
 * The definition's step is looked up by the whole key, once for each step, because a subquery with an offset is planned by itself. As a join, the
 * planner read all steps of the run for each step of the definition.
 */
function runText({ where, run }: RowsToRead, { more = '', output = 's.output::text' } = {}): string {
  const first = {
    // Reads all steps of a run: in every row, it would read them once for each of them.
    status: inFirstRow(SHOWN_STATUS),
    input: inFirstRow('r.input::text'),
    cause: inFirstRow('r.cause::text'),
    readAt: inFirstRow(STORE_MS),
  }
  return `
select ${runColumns(first)}, ${inFirstRow(shownValues('r'))} as shown_values,
  ${stepColumns(output)}${more}
from belay.workflow_steps s
join belay.workflow_runs r on ${run}
join belay.workflow_definitions d on d.id = r.definition_id
join lateral (
  select template.step, template.name, template.kind
  from belay.workflow_definition_steps template
  where template.definition_id = r.definition_id and template.step = ${templateOf('s.step')}
  offset 0
) ds on true
where ${where}
order by s.step`
}

function inFirstRow(expression: string): string {
  return `case when s.step = 0 then ${expression} end`
}

function epochMs(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`
}

function runOf(row: RunRow): DatedRun {
  return { ...decodeRun(row), status: row.status, input: row.input, readAt: row.read_at }
}

function stepOf(row: StepRow): StepRecord {
  const step = decodeStep(row)
  const undo = step.undo === null ? null : { ...step.undo, error: row.undo_error }
  const irreversible = row.irreversible ? { irreversible: true } : {}
  return { ...step, ...irreversible, undo, output: row.output, error: row.error }
}
