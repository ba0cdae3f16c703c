import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** A step's name, for messages. Index: primary key. No locks. */
export const readStepNameStatement: Statement<{ readonly name: string }> = {
  name: 'read_step_name',
  text: `
select ds.name from belay.workflow_definition_steps ds where ds.definition_id = $1::int and ds.step = $2::int`,
}

export async function readStepName(
  connection: Connection,
  step: { definitionId: number; step: number },
): Promise<string> {
  const [row] = await connection.query(readStepNameStatement, [step.definitionId, step.step])
  return row?.name ?? `#${step.step}`
}
