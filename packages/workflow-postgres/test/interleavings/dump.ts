import type { Dump, RunDump } from '@belay/testing'
import type { SavedDefinition } from '@belay/workflow/adapter'
import type { World } from './world.ts'

/** For the invariant checker: the runs, with columns that the port does not show, and the queue. */
export async function dumpStore(
  world: World,
  definitions: readonly SavedDefinition[],
  runIds: readonly string[],
): Promise<Dump> {
  const stored = await world.sql<{ id: string } & NonNullable<RunDump['stored']>>(
    'select id, open_steps as "openSteps", ends_as as "endsAs", stop from belay.workflow_runs',
  )
  const runs: RunDump[] = []
  for (const runId of runIds) {
    const read = await world.store.readRun(runId)
    const beside = stored.find(({ id }) => id === runId)
    if (read !== null && beside !== undefined) runs.push({ ...read, stored: beside })
  }
  // A hint left by an earlier attempt or an earlier version is stale: nothing is ever claimed by it.
  const queue = await world.sql<{ runId: string; step: number; availableAt: number }>(
    `select q.run_id as "runId", q.step, min(extract(epoch from q.available_at) * 1000)::float8 as "availableAt"
     from belay.workflow_queue_overview q
     join belay.workflow_steps s on s.run_id = q.run_id and s.step = q.step and s.fence = q.fence
     join belay.workflow_runs r on r.id = q.run_id and r.definition_id = q.definition_id
     group by q.run_id, q.step`,
  )
  const workers = await world.sql<{ workerId: string; status: 'live' | 'dead'; leaseExpiresAt: number }>(
    `select id as "workerId", status, (extract(epoch from lease_expires_at) * 1000)::float8 as "leaseExpiresAt"
     from belay.workflow_workers`,
  )
  const waiters = await world.sql<NonNullable<Dump['limits']>['waiters'][number]>(
    'select run_id as "runId", step, fence, limit_name as "limit", key from belay.workflow_limit_waiters',
  )
  return { definitions, runs, queue, workers, limits: { slots: [], waiters } }
}
