import type { AttemptRef } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** A step's name and how often it was tried in its direction, for the cause of a failure. Index: primary keys. No locks. */
export const readTriesStatement: Statement<{ readonly name: string; readonly tries: number }> = {
  name: 'read_tries',
  text: `
select ds.name, s.failures + s.losses + 1 as tries
from belay.workflow_steps s
join belay.workflow_definition_steps ds on ds.definition_id = $3::int and ds.step = s.step
where s.run_id = $1::uuid and s.step = $2::int`,
}

export async function readTries(
  connection: Connection,
  attempt: AttemptRef,
): Promise<{ readonly name: string; readonly tries: number }> {
  const { runId, step, definitionId } = attempt
  const [row] = await connection.query(readTriesStatement, [runId, step, definitionId])
  return row ?? { name: `#${step}`, tries: attempt.fence }
}
