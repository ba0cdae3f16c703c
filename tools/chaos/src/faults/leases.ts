import type pg from 'pg'
import type { LeasedStep } from './fault.ts'

const LEASED_MAX = 200

/** The steps leased to a process now, by the name of its worker. Empty if the database cannot say. */
export async function leasesOf(database: pg.Pool, worker: string): Promise<readonly LeasedStep[]> {
  try {
    const { rows } = await database.query<LeasedStep>(
      `select s.run_id as "runId", s.step, s.fence, s.worker_id as "workerId"
       from belay.workflow_runs r
       join belay.workflow_steps s on s.run_id = r.id
       join belay.workflow_workers w on w.id = s.worker_id
       where r.status in ('running', 'paused', 'compensating') and r.finished_at is null
         and s.status in ('running', 'compensating') and w.name = $1
       limit ${LEASED_MAX}`,
      [worker],
    )
    return rows
  } catch {
    return []
  }
}

/** Those of these leases that still exist unchanged. */
export async function stillLeased(
  database: pg.Pool,
  leases: readonly LeasedStep[],
): Promise<readonly LeasedStep[]> {
  const { rows } = await database.query<LeasedStep>(
    `select s.run_id as "runId", s.step, s.fence, s.worker_id as "workerId"
     from json_to_recordset($1) as l ("runId" uuid, step integer, fence integer, "workerId" uuid)
     join belay.workflow_steps s on s.run_id = l."runId" and s.step = l.step
     where s.fence = l.fence and s.worker_id = l."workerId" and s.status in ('running', 'compensating')`,
    [JSON.stringify(leases)],
  )
  return rows
}
