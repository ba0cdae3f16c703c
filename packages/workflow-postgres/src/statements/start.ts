import type { JsonText } from '@belay/workflow/adapter'
import type { ChildStart, Identity, NewRun, NewRuns, StartedRun } from '@belay/workflow/store'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type Column, GUARD, placeOf, Query } from './query.ts'

interface Given {
  readonly run: NewRun
  readonly definition: number
  readonly workflow: string
}

const COLUMNS: readonly Column<Given>[] = [
  ['id', 'uuid', ({ run }) => run.id],
  ['definition_id', 'int', ({ definition }) => definition],
  ['workflow', 'text', ({ workflow }) => workflow],
  ['key', 'text', ({ run }) => run.key],
  ['input_hash', 'text', ({ run }) => run.inputHash ?? null],
  ['input', 'text', ({ run }) => run.input],
  ['tags', 'text', ({ run }) => (run.tags === undefined ? null : JSON.stringify(run.tags))],
  ['start_at', 'float8', ({ run }) => run.startAt ?? null],
  ['start_delay', 'float8', ({ run }) => run.startDelayMs ?? null],
  ['deadline', 'float8', ({ run }) => run.deadlineMs ?? null],
  ['priority', 'int', ({ run }) => run.priority ?? 0],
  ['parent_run_id', 'uuid', ({ run }) => run.parent?.run ?? null],
  ['parent_unit', 'int', ({ run }) => run.parent?.unit ?? null],
  ['detached', 'boolean', ({ run }) => run.parent?.detached ?? null],
]

interface Template {
  readonly definition: number
  readonly step: NewRuns['steps'][number]
}

const TEMPLATES: readonly Column<Template>[] = [
  ['definition_id', 'int', ({ definition }) => definition],
  ['unit', 'int', ({ step }) => step.no],
  ['scope', 'int', ({ step }) => step.scope],
  ['name', 'text', ({ step }) => step.name],
]

const after = (ms: string, from = 'belay.store_now()'): string => `${from} + ${ms} * interval '1 millisecond'`

/**
 * Adds what starts runs, as `started_runs` (id, owner), if `gate` holds. A key that is taken is waited for while its transaction is open. `owner` is an
 * expression for the worker that owns at once what may begin now.
 */
export function addStarts(
  query: Query,
  starts: readonly ChildStart[],
  { gate, owner }: { readonly gate: string; readonly owner: string },
): void {
  const templates = new Map(starts.map(({ definition, steps }) => [definition, steps]))
  const rows = [...templates].flatMap(([definition, steps]) =>
    steps.map((step): Template => ({ definition, step })),
  )
  query.part(
    'given_runs',
    `select g.*, coalesce(to_timestamp(g.start_at / 1000), ${after('g.start_delay')}, belay.store_now()) as due
    from ${query.rows('g', starts, COLUMNS)} where ${gate}`,
  )
  query.part(
    'started_runs',
    `insert into belay.workflow_runs (id, definition_id, workflow, key, input_hash, input, tags, status, priority, created_at, start_at,
      deadline_at, parent_run_id, parent_unit, detached)
    select g.id, g.definition_id, g.workflow, g.key, g.input_hash, g.input::json,
      case when g.tags is not null then array(select json_array_elements_text(g.tags::json)) end, 'running', g.priority, belay.store_now(),
      case when g.due > belay.store_now() then g.due end, ${after('g.deadline', 'greatest(g.due, belay.store_now())')}, g.parent_run_id, g.parent_unit, g.detached
    from given_runs g
    -- Always in the same order: two calls with the same keys wait for each other, and never both.
    order by g.workflow, g.key, g.id
    on conflict do nothing
    returning id, definition_id, priority, coalesce(start_at, created_at) as due`,
  )
  query.part(
    'live_runs',
    `insert into belay.workflow_live (run_id, definition_id, owner, fence, lead, due, place)
    select s.id, s.definition_id, o.owner, case when o.owner is null then 0 else 1 end, s.priority, s.due,
      case when s.due <= belay.store_now() then ${placeOf('s.due', 's.priority')} end
    from started_runs s cross join lateral (select case when s.due <= belay.store_now() then ${owner} end as owner) o
    returning run_id, owner`,
  )
  query.part(
    'pending_steps',
    `insert into belay.workflow_steps (run_id, unit, scope, name, status)
    select s.id, t.unit, t.scope, t.name, 'pending'
    from started_runs s join ${query.rows('t', rows, TEMPLATES)} on t.definition_id = s.definition_id
    order by s.id, t.unit`,
  )
}

/** Whoever has these ids, or these keys. Index: primary key, unique (workflow, key). No locks. */
const readTaken: Statement<{
  readonly position: number
  readonly id: string
  readonly definition_id: number
  readonly input: JsonText
  readonly input_hash: string | null
}> = {
  name: null,
  text: `
select given.position::int as position, r.id::text as id, r.definition_id, r.input::text as input, r.input_hash
from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as given (id, workflow, key, position)
cross join lateral (
  select t.* from belay.workflow_runs t where t.id = any (array[given.id])
  union all
  select t.* from belay.workflow_runs t
  where t.workflow = given.workflow and t.key = given.key and given.key is not null and t.id <> given.id
  limit 1
) r`,
}

/**
 * Runs with their steps: one statement, and one more for keys that were taken, whose fresh snapshot sees them. Index: unique (workflow, key). Locks: the new
 * rows in the order of their keys, then the worker (shared).
 */
export async function start(
  connection: Connection,
  { definition, workflow, steps, runs }: NewRuns,
  owner?: Identity,
): Promise<readonly StartedRun[]> {
  if (runs.length === 0) return []
  const query = new Query()
  if (owner !== undefined) {
    query.values.push(owner.worker, owner.epoch)
    query.part('worker', GUARD)
  }
  const starts = runs.map((run): ChildStart => ({ definition, workflow, steps, run }))
  const owning = owner === undefined ? 'null::int' : '(select w.number from worker w)'
  addStarts(query, starts, { gate: 'true', owner: owning })
  const statement = query.statement<{ readonly id: string; readonly owner: number | null }>(
    'start',
    'select run_id::text as id, owner from live_runs',
  )
  const started = new Map(
    (await connection.query(statement, query.values)).map((row) => [row.id, row.owner !== null]),
  )
  const taken = runs.filter(({ id }) => !started.has(id))
  const found = new Map(
    taken.length === 0
      ? []
      : (
          await connection.query(readTaken, [
            taken.map(({ id }) => id),
            taken.map(() => workflow),
            taken.map(({ key }) => key),
          ])
        ).map((row) => [taken[row.position - 1], row]),
  )
  return runs.map((run): StartedRun => {
    const { id, input, inputHash = null } = run
    const owned = started.get(id)
    if (owned !== undefined) return { id, created: true, owned, definition, input, inputHash }
    const row = found.get(run)
    if (row === undefined) throw new Error(`Run ${id} was not started, and no other run has its key.`)
    const other = { id: row.id, definition: row.definition_id, input: row.input, inputHash: row.input_hash }
    return { ...other, created: false, owned: false }
  })
}
