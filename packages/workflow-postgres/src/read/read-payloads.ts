import {
  type JsonText,
  mapOf,
  type PayloadRequest,
  type RunPayloads,
  type StepPayloads,
  type StepStatus,
} from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { FIRST_ITEM } from '../rows/item-rows.ts'
import { stepIs } from '../rows/step-lookup.ts'
import { readHeartbeats } from './read-heartbeats.ts'

/** Inputs and causes of runs. Index: primary key. No locks. */
export const readRunPayloads: Statement<{
  readonly run_id: string
  readonly input: JsonText
  readonly cause: JsonText
  readonly now: number
}> = {
  name: 'read_run_payloads',
  text: `
select r.id as run_id, r.input::text as input, r.cause::text as cause,
  (extract(epoch from belay.store_now()) * 1000)::float8 as now
from unnest($1::uuid[]) as wanted (run_id)
join belay.workflow_runs r on r.id = any (array[wanted.run_id])`,
}

interface StepRow {
  readonly run_id: string
  readonly step: number
  readonly output: JsonText
  readonly error: JsonText
  readonly available_at: number | null
  readonly waiting_since: number | null
  readonly signalled_at: number | null
  readonly failing_since: number | null
  readonly succeeded: boolean
  readonly item_key: string | null
  readonly item: JsonText
  /** Present if branches were asked for. */
  readonly branch?: JsonText
  readonly failed?: boolean
  readonly undone_status?: StepStatus
  readonly started?: boolean
}

/** Outputs and errors of steps. Index: primary key. No locks. */
export const readStepPayloads: Statement<StepRow> = {
  name: 'read_step_payloads',
  text: stepPayloadsText(''),
}

/** The same with the steps' branches and failures, for the few steps that may be skipped or fail. */
export const readBranchPayloads: Statement<StepRow> = {
  name: 'read_branch_payloads',
  text: stepPayloadsText(`, s.branch::text as branch, coalesce(s.undo_of, s.status) = 'failed' as failed,
  coalesce(s.undo_of, s.status) as undone_status, coalesce(s.begun, s.started_at is not null) as started`),
}

function stepPayloadsText(branch: string): string {
  return `
select s.run_id, s.step, s.output::text as output, s.error::text as error,
  (extract(epoch from s.available_at) * 1000)::float8 as available_at,
  (extract(epoch from s.waiting_since) * 1000)::float8 as waiting_since,
  (extract(epoch from s.signalled_at) * 1000)::float8 as signalled_at,
  (extract(epoch from s.failing_since) * 1000)::float8 as failing_since,
  coalesce(s.succeeded, false) as succeeded, s.item_key, s.item::text as item${branch}
from unnest($1::uuid[], $2::int[]) as wanted (run_id, step)
join belay.workflow_steps s on s.run_id = any (array[wanted.run_id]) and ${stepIs('s', 'wanted.step')}`
}

/**
 * The outputs of the items of maps, each map named by its run and the step that decides its items; no row for one without items. Index: primary key,
 * once for each map. No locks.
 */
export const readItemOutputs: Statement<{
  readonly run_id: string
  readonly map: number
  readonly outputs: string
}> = {
  name: 'read_item_outputs',
  text: `
select wanted.run_id, wanted.map, items.outputs
from unnest($1::uuid[], $2::int[]) as wanted (run_id, map)
cross join lateral (
  select '[' || string_agg(coalesce(s.output::text, 'null'), ',' order by s.step) || ']' as outputs
  from belay.workflow_steps s
  where s.run_id = any (array[wanted.run_id]) and s.step >= (wanted.map + 1) * ${FIRST_ITEM} and s.step < (wanted.map + 2) * ${FIRST_ITEM}
) items
where items.outputs is not null`,
}

/** The number of the last round of each of these loops, each named by its run and its `repeat`. Index: primary key. No locks. */
export const findLastRounds: Statement<{ readonly run_id: string; readonly step: number }> = {
  name: 'find_last_rounds',
  text: `
select wanted.run_id, last_round.step
from unnest($1::uuid[], $2::int[]) as wanted (run_id, loop)
cross join lateral (
  select s.step from belay.workflow_steps s
  where s.run_id = any (array[wanted.run_id])
    and s.step >= (wanted.loop + 1) * ${FIRST_ITEM} and s.step < (wanted.loop + 2) * ${FIRST_ITEM}
  order by s.step desc
  limit 1
) last_round`,
}

export async function load(
  connection: Connection,
  requests: readonly PayloadRequest[],
): Promise<readonly RunPayloads[]> {
  if (requests.length === 0) return []
  return loadSteps(connection, await withLastRounds(connection, requests))
}

/** The requests with the last rounds that they ask for among their steps. */
async function withLastRounds(
  connection: Connection,
  requests: readonly PayloadRequest[],
): Promise<readonly PayloadRequest[]> {
  if (!requests.some(({ lastRoundsOf }) => lastRoundsOf !== undefined)) return requests
  const loops = requests.flatMap(({ runId, lastRoundsOf = [] }) =>
    lastRoundsOf.map((loop) => ({ runId, loop })),
  )
  const found = await connection.query(findLastRounds, [
    loops.map(({ runId }) => runId),
    loops.map(({ loop }) => loop),
  ])
  return requests.map((request) => {
    const { runId, steps, lastRoundsOf = [] } = request
    const isWanted = ({ run_id, step }: { run_id: string; step: number }) =>
      run_id === runId && lastRoundsOf.includes(mapOf(step))
    return { ...request, steps: [...new Set([...steps, ...found.filter(isWanted).map(({ step }) => step)])] }
  })
}

async function loadSteps(
  connection: Connection,
  requests: readonly PayloadRequest[],
): Promise<readonly RunPayloads[]> {
  const withBranches = requests.some(({ branches }) => branches)
  const wanted = requests.flatMap(({ runId, steps }) => steps.map((step) => ({ runId, step })))
  const [runs, steps, outputs, heartbeats] = await Promise.all([
    connection.query(readRunPayloads, [[...new Set(requests.map((request) => request.runId))]]),
    wanted.length === 0
      ? []
      : connection.query(withBranches ? readBranchPayloads : readStepPayloads, [
          wanted.map((step) => step.runId),
          wanted.map((step) => step.step),
        ]),
    readOutputs(connection, requests),
    readHeartbeats(connection, requests),
  ])
  const runsById = new Map(runs.map((run) => [run.run_id, run]))
  const stepsByKey = new Map(steps.map((step) => [`${step.run_id}/${step.step}`, step]))
  return requests.flatMap(({ runId, steps, outputsOf: maps, heartbeats: asked }) => {
    const run = runsById.get(runId)
    if (run === undefined) return []
    const found = steps.flatMap((step) => {
      const row = stepsByKey.get(`${runId}/${step}`)
      return row === undefined ? [] : [decodeStep(row)]
    })
    const payloads = { runId, input: run.input, cause: run.cause, steps: found, now: run.now }
    if (asked === undefined && maps === undefined) return [payloads]
    return [
      {
        ...payloads,
        ...(maps && {
          outputsOf: maps.map((map) => ({ map, outputs: outputs.get(`${runId}/${map}`) ?? '[]' })),
        }),
        ...(asked && { heartbeats: heartbeats.get(runId) ?? [] }),
      },
    ]
  })
}

async function readOutputs(
  connection: Connection,
  requests: readonly PayloadRequest[],
): Promise<ReadonlyMap<string, string>> {
  const maps = requests.flatMap(({ runId, outputsOf = [] }) => outputsOf.map((map) => ({ runId, map })))
  if (maps.length === 0) return new Map()
  const rows = await connection.query(readItemOutputs, [
    maps.map(({ runId }) => runId),
    maps.map(({ map }) => map),
  ])
  return new Map(rows.map(({ run_id: runId, map, outputs }) => [`${runId}/${map}`, outputs]))
}

function decodeStep(row: StepRow): StepPayloads {
  const payloads: StepPayloads = {
    step: row.step,
    output: row.output,
    error: row.error,
    availableAt: row.available_at,
    waitingSince: row.waiting_since,
    signalledAt: row.signalled_at,
    failingSince: row.failing_since,
    succeeded: row.succeeded,
  }
  const { item_key: key, branch } = row
  if (key === null && branch === undefined) return payloads
  return {
    ...payloads,
    ...(key !== null && { item: { key, value: row.item } }),
    ...(branch !== undefined && {
      branch,
      failed: row.failed,
      undoneStatus: row.undone_status,
      started: row.started,
    }),
  }
}
