import type { JsonText, PayloadRequest, RunPayloads } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** Inputs and causes of runs. Index: primary key. No locks. */
export const readRunPayloads: Statement<{
  readonly run_id: string
  readonly input: JsonText
  readonly cause: JsonText
}> = {
  name: 'read_run_payloads',
  text: `
select r.id as run_id, r.input::text as input, r.cause::text as cause
from unnest($1::uuid[]) as wanted (run_id)
join belay.workflow_runs r on r.id = any (array[wanted.run_id])`,
}

/** Outputs and errors of steps. Index: primary key. No locks. */
export const readStepPayloads: Statement<{
  readonly run_id: string
  readonly step: number
  readonly output: JsonText
  readonly error: JsonText
}> = {
  name: 'read_step_payloads',
  text: `
select s.run_id, s.step, s.output::text as output, s.error::text as error
from unnest($1::uuid[], $2::int[]) as wanted (run_id, step)
join belay.workflow_steps s on s.run_id = any (array[wanted.run_id]) and s.step = any (array[wanted.step])`,
}

export async function load(
  connection: Connection,
  requests: readonly PayloadRequest[],
): Promise<readonly RunPayloads[]> {
  if (requests.length === 0) return []
  const wanted = requests.flatMap(({ runId, steps }) => steps.map((step) => ({ runId, step })))
  const [runs, steps] = await Promise.all([
    connection.query(readRunPayloads, [[...new Set(requests.map((request) => request.runId))]]),
    wanted.length === 0
      ? []
      : connection.query(readStepPayloads, [
          wanted.map((step) => step.runId),
          wanted.map((step) => step.step),
        ]),
  ])
  const runsById = new Map(runs.map((run) => [run.run_id, run]))
  const stepsByKey = new Map(steps.map((step) => [`${step.run_id}/${step.step}`, step]))
  return requests.flatMap(({ runId, steps }) => {
    const run = runsById.get(runId)
    if (run === undefined) return []
    const found = steps.flatMap((step) => {
      const row = stepsByKey.get(`${runId}/${step}`)
      return row === undefined ? [] : [{ step, output: row.output, error: row.error }]
    })
    return [{ runId, input: run.input, cause: run.cause, steps: found }]
  })
}
