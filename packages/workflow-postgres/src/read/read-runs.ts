import type {
  Adapter,
  ItemCount,
  ItemsToRead,
  JsonText,
  RunRecord,
  RunStatus,
  StepRecord,
  StepStatus,
} from '@belay/workflow/adapter'
import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { FIRST_ITEM, templateOf } from '../rows/item-rows.ts'
import { decodeRun, type RunColumns } from '../rows/run-columns.ts'
import { decodeValues, shownValues } from '../rows/shown-values.ts'
import { decodeStep, type StepColumns } from '../rows/step-columns.ts'
import { DEFAULT_SCHEMA, makeTables } from '../schema/index.ts'
import { DIFFERING, differingOf, ITEM_COUNTS, ITEMS_IN_RANGE, ITEMS_THAT_DIFFER } from './items-of-run.ts'

// Reads are for people and for handles: drizzle builds them, and they are not prepared. They name the default schema, like every statement.
const { definitions, definitionSteps, runs, steps } = makeTables(DEFAULT_SCHEMA)
const build = new QueryBuilder()

interface RunRow extends RunColumns {
  readonly status: RunStatus
  readonly input: JsonText
}

// As shown to users: a running run may be scheduled or waiting.
const shownStatus = sql<RunStatus>`belay.shown_status(${runs.id}, ${runs.status}, ${runs.startAt})`

const runColumns = {
  run_id: sql<string>`${runs.id}`.as('run_id'),
  workflow: runs.workflow,
  version: definitions.version,
  definition_id: sql<number>`${runs.definitionId}`.as('definition_id'),
  key: runs.key,
  status: shownStatus.as('status'),
  input: sql<JsonText>`${runs.input}::text`.as('input'),
  cause: sql<JsonText>`${runs.cause}::text`.as('cause'),
  created_at: epochMs(runs.createdAt).as('created_at'),
  finished_at: epochMs(runs.finishedAt).as('finished_at'),
  start_at: epochMs(runs.startAt).as('start_at'),
  deadline_at: epochMs(runs.deadlineAt).as('deadline_at'),
  tags: sql<string | null>`array_to_json(${runs.tags})::text`.as('tags'),
  parent_run_id: runs.parentRunId,
  parent_step: runs.parentStep,
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
  return connection.query(readRunPart, [runId, items.after, items.before, items.limit])
}

/** The runs whose ids the given statement finds, newest first. Index: primary key. No locks. */
export async function readRunsNewestFirst(connection: Connection, ids: SQL): Promise<readonly RunRecord[]> {
  const query = build
    .select(runColumns)
    .from(runs)
    .innerJoin(definitions, eq(definitions.id, runs.definitionId))
    .where(sql`${runs.id} = any (array(${ids}))`)
    .orderBy(desc(runs.id))
    .toSQL()
  const rows = await connection.query<RunRow>({ name: null, text: query.sql }, query.params)
  return rows.map(runOf)
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

/**
 * The definition's step of a step. A subquery with an offset is planned by itself, so it is looked up by the whole key, once for each step: as a join,
 * the planner read all steps of the run for each step of the definition.
 */
const definitionStep = build
  .select({ step: definitionSteps.step, name: definitionSteps.name, kind: definitionSteps.kind })
  .from(definitionSteps)
  .where(
    sql`${definitionSteps.definitionId} = ${runs.definitionId} and ${definitionSteps.step} = ${sql.raw(templateOf('"belay"."workflow_steps"."step"'))} offset 0`,
  )
  .as('definition_step')

const stepColumns = {
  step: steps.step,
  name: sql<string>`case when ${steps.itemKey} is null then ${definitionStep.name} else left(${definitionStep.name}, -1) || ${steps.itemKey} || ']' end`.as(
    'name',
  ),
  item_key: sql<string | null>`${steps.itemKey}`.as('item_key'),
  at_once: sql<number | null>`${steps.atOnce}`.as('at_once'),
  next_item: sql<number | null>`${steps.nextItem}`.as('next_item'),
  item_order: sql<readonly number[] | null>`${steps.itemOrder}`.as('item_order'),
  step_status: sql<StepStatus>`${steps.status}`.as('step_status'),
  fence: steps.fence,
  round: steps.round,
  // As in `countedAttempts`.
  attempts: sql<number>`coalesce(${steps.attempts}, ${steps.fence} % 40000000)`.as('attempts'),
  failures: steps.failures,
  losses: steps.losses,
  open_dependencies: sql<number>`${steps.openDependencies}`.as('open_dependencies'),
  worker_id: sql<string>`${steps.workerId}`.as('worker_id'),
  undo_of: sql<string>`${steps.undoOf}`.as('undo_of'),
  output: sql<JsonText>`${steps.output}::text`.as('output'),
  error: sql<JsonText>`${steps.error}::text`.as('error'),
  step_started_at: epochMs(steps.startedAt).as('step_started_at'),
  step_finished_at: epochMs(steps.finishedAt).as('step_finished_at'),
  available_at: epochMs(steps.availableAt).as('available_at'),
  waiting_since: epochMs(steps.waitingSince).as('waiting_since'),
  signalled_at: epochMs(steps.signalledAt).as('signalled_at'),
  failing_since: epochMs(steps.failingSince).as('failing_since'),
  undo_attempts: sql<number>`${steps.undoAttempts}`.as('undo_attempts'),
  undo_failures: sql<number>`${steps.undoFailures}`.as('undo_failures'),
  undo_losses: sql<number>`${steps.undoLosses}`.as('undo_losses'),
  undo_started_at: epochMs(steps.undoStartedAt).as('undo_started_at'),
  undo_finished_at: epochMs(steps.undoFinishedAt).as('undo_finished_at'),
  undo_error: sql<JsonText>`${steps.undoError}::text`.as('undo_error'),
  undo_skipped: sql<boolean>`${steps.undoSkipped}`.as('undo_skipped'),
  succeeded: sql<boolean>`coalesce(${steps.succeeded}, false)`.as('succeeded'),
  branch: sql<JsonText>`${steps.branch}::text`.as('branch'),
  // As in the view `workflow_step_overview`.
  irreversible: sql<boolean>`coalesce(${definitionStep.step} = any (${definitions.irreversible}), false)
    and (${steps.itemKey} is not null or ${definitionStep.kind} is distinct from 'map')`.as('irreversible'),
}

/** One row per step, each with the run's columns. Only the first row has the run's status, and its payloads and values, which may be large. */
export const readRunStatement: Statement<RunRow & StepRow> = {
  name: 'read_run',
  text: runText({}, ofRun()),
}

/** The same with only some items of its maps, and the counts of all. Index: primary keys. */
export const readRunPart: Statement<RunRow & StepRow> = {
  name: 'read_run_part',
  text: runText(
    {
      item_counts: sql<string | null>`case when ${steps.step} = 0 then (${sql.raw(ITEM_COUNTS)}) end`.as(
        'item_counts',
      ),
    },
    listed(ITEMS_IN_RANGE),
  ),
}

/** The same without items. */
export const readRunWithoutItems: Statement<RunRow & StepRow> = {
  name: 'read_run_without_items',
  text: runText({}, ofRun(sql`${steps.step} < ${sql.raw(String(FIRST_ITEM))}`)),
}

/** The same with those groups of items that differ from what the reader knows. Index: primary keys. No locks. */
export const readRunDiffering: Statement<RunRow & StepRow> = {
  name: 'read_run_differing',
  text:
    DIFFERING +
    runText(
      {
        differing: sql<
          string | null
        >`case when ${steps.step} = 0 then (select json_agg(json_build_object('first', d.first, 'print', d.print) order by d.first)::text from differing d) end`.as(
          'differing',
        ),
        output:
          sql<JsonText>`case when $6::bool or ${steps.step} < ${sql.raw(String(FIRST_ITEM))} then ${steps.output}::text end`.as(
            'output',
          ),
      },
      listed(ITEMS_THAT_DIFFER),
    ),
}

/** Which rows are read, and how the row of their run is found. */
interface RowsToRead {
  readonly where: SQL
  readonly run: SQL
}

function ofRun(condition?: SQL): RowsToRead {
  return { where: and(sql`${steps.runId} = $1::uuid`, condition)!, run: eq(runs.id, steps.runId) }
}

/**
 * The rows of a list of ctids, which are those of this statement's snapshot. By key, a plan that was made while the table was small may compare each
 * row of the run with the list, before PostgreSQL 17. So nothing here says of which run they are.
 */
function listed(ctids: string): RowsToRead {
  return {
    where: sql`"belay"."workflow_steps".ctid = any (array(${sql.raw(ctids)}))`,
    run: sql`${runs.id} = any (array[${steps.runId}])`,
  }
}

function runText(more: Record<string, SQL.Aliased>, { where, run }: RowsToRead): string {
  return build
    .select({
      ...runColumns,
      // Reads all steps of a run: in every row, it would read them once for each of them.
      status: sql<RunStatus>`case when ${steps.step} = 0 then ${shownStatus} end`.as('status'),
      input: sql<JsonText>`case when ${steps.step} = 0 then ${runs.input}::text end`.as('input'),
      cause: sql<JsonText>`case when ${steps.step} = 0 then ${runs.cause}::text end`.as('cause'),
      shown_values: sql<
        string | null
      >`case when ${steps.step} = 0 then ${sql.raw(shownValues('"belay"."workflow_runs"'))} end`.as(
        'shown_values',
      ),
      ...stepColumns,
      ...more,
    })
    .from(steps)
    .innerJoin(runs, run)
    .innerJoin(definitions, eq(definitions.id, runs.definitionId))
    .innerJoinLateral(definitionStep, sql`true`)
    .where(where)
    .orderBy(asc(steps.step))
    .toSQL().sql
}

function epochMs(column: unknown): SQL<number> {
  return sql<number>`(extract(epoch from ${column}) * 1000)::float8`
}

function runOf(row: RunRow): RunRecord {
  return { ...decodeRun(row), status: row.status, input: row.input }
}

function stepOf(row: StepRow): StepRecord {
  const step = decodeStep(row)
  const undo = step.undo === null ? null : { ...step.undo, error: row.undo_error }
  const irreversible = row.irreversible ? { irreversible: true } : {}
  return { ...step, ...irreversible, undo, output: row.output, error: row.error }
}
