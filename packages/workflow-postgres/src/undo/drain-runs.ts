import type { DrainedRun, StepStatus } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { cancelSteps, lockedOpenSteps, openStatuses } from '../rows/open-steps.ts'
import { definitionOf, forgottenHints } from '../rows/queue-place.ts'

interface DrainedRow {
  readonly run_id: string
  readonly definition_id: number
  readonly stop: 'failure' | 'cancellation' | 'abandonment'
  readonly leftovers: number
  readonly fences: number
  readonly steps: readonly number[]
  readonly statuses: readonly StepStatus[]
  readonly started: readonly boolean[]
  readonly succeeded: readonly boolean[]
  readonly decided: readonly boolean[]
}

const drainedColumns =
  'r.id as run_id, r.definition_id, r.stop, s.leftovers, s.fences, s.steps, s.statuses, s.started, s.succeeded, s.decided'

/** What a look at a stopped run, `r`, reads of its steps, `s`. */
const stepsOfRun = `
cross join lateral (
  select (count(*) filter (where s.status = 'running'))::int as in_flight,
    (count(*) filter (where s.status in ('pending', 'ready', 'waiting')))::int as leftovers,
    sum(s.fence)::float8 as fences,
    array_agg(s.step order by s.step) as steps,
    array_agg(s.status order by s.step) as statuses,
    array_agg(coalesce(s.begun, s.started_at is not null) order by s.step) as started,
    array_agg(coalesce(s.succeeded, false) order by s.step) as succeeded,
    array_agg(s.branch is not null order by s.step) as decided
  from belay.workflow_steps s
  where s.run_id = r.id
) s`

/**
 * Stopped runs in which nothing is in flight and whose undo has not begun, oldest first. Index: the partial index of draining runs, steps by primary
 * key. No locks: nothing in such a run can start again, so what is read here stays true.
 */
export const readDrainedRuns: Statement<DrainedRow> = {
  name: 'read_drained_runs',
  text: `
select ${drainedColumns}
from belay.workflow_runs r${stepsOfRun}
where r.status = 'compensating' and r.ends_as is null and s.in_flight = 0
  and r.definition_id = any ($1::int[]) and r.id <> all ($3::uuid[])
order by r.id
limit $2::int`,
}

/** Of these runs, those that {@link readDrainedRuns} would find among all. Index: primary keys. No locks. */
export const readDrainedOf: Statement<DrainedRow> = {
  name: 'read_drained_of',
  text: `
select ${drainedColumns}
from unnest($4::uuid[]) as asked (id)
cross join lateral (select * from belay.workflow_runs o where o.id = any (array[asked.id]) limit 1) r${stepsOfRun}
where r.status = 'compensating' and r.ends_as is null and s.in_flight = 0
  and r.definition_id = any ($1::int[]) and r.id <> all ($3::uuid[])
order by r.id
limit $2::int`,
}

/**
 * Cancels steps that returned to the queue while their run was being stopped. Index: primary keys. Locks: steps by (run, step), skipping locked ones,
 * which the next drain checks again. A concurrent claim either gets the step, which is then in flight, or finds it cancelled.
 */
export const cancelLeftovers: Statement<{ readonly run_id: string }> = {
  name: 'cancel_leftovers',
  text: `
with stopped_runs as materialized (
  select r.id, ${openStatuses} as open_statuses
  from belay.workflow_runs r
  where r.id = any ($1::uuid[]) and r.status = 'compensating' and r.ends_as is null
),
${lockedOpenSteps({ runs: 'stopped_runs', id: 'id', skipLocked: true })},
${forgottenHints('locked_steps f', definitionOf('f'))}
${cancelSteps()}
returning s.run_id`,
}

// How often it looks for others after it met runs with locked steps.
const ROUNDS_MAX = 5

export async function drain(
  connection: Connection,
  request: {
    definitionIds: readonly number[]
    runIds?: readonly string[] | undefined
    limit: number
  },
): Promise<readonly DrainedRun[]> {
  const { definitionIds, runIds, limit } = request
  const drained: DrainedRow[] = []
  const passedOver: string[] = []
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const wanted = limit - drained.length
    const seen = [...passedOver, ...drained.map((row) => row.run_id)]
    const values = [definitionIds, wanted, seen]
    const read = () =>
      runIds === undefined
        ? connection.query(readDrainedRuns, values)
        : connection.query(readDrainedOf, [...values, [...new Set(runIds)]])
    let rows = await read()
    const unclean = rows.filter((row) => row.leftovers > 0)
    if (unclean.length > 0) {
      // Leftovers are rare, so they are cancelled only when some were seen. Reading the result needs a fresh snapshot.
      await connection.query(cancelLeftovers, [unclean.map((row) => row.run_id)])
      rows = await read()
    }
    for (const row of rows) {
      if (row.leftovers === 0) drained.push(row)
      else passedOver.push(row.run_id)
    }
    if (rows.length < wanted || drained.length >= limit) break
  }
  return drained.map(decode)
}

function decode(row: DrainedRow): DrainedRun {
  return {
    runId: row.run_id,
    definitionId: row.definition_id,
    stop: row.stop,
    fences: row.fences,
    steps: row.steps.map((step, index) => ({
      step,
      status: row.statuses[index]!,
      started: row.started[index]!,
      succeeded: row.succeeded[index]!,
      ...(row.decided[index] ? { decided: true } : {}),
    })),
  }
}
