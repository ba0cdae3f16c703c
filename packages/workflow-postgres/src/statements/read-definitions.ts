import type { SavedDefinition } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** Definitions by number. Index: primary key. No locks: they never change. */
export const readDefinitionsById: Statement<{
  readonly id: number
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: string
}> = {
  name: 'read_definitions_by_id',
  text: `
select d.id, d.name, d.version, d.checksum, d.shape::text as shape
from unnest($1::int[]) as wanted (id)
join belay.workflow_definitions d on d.id = any (array[wanted.id])`,
}

export async function readDefinitions(
  connection: Connection,
  definitionIds: readonly number[],
): Promise<readonly SavedDefinition[]> {
  if (definitionIds.length === 0) return []
  const rows = await connection.query(readDefinitionsById, [[...new Set(definitionIds)]])
  return rows.map((row) => ({ ...row, shape: JSON.parse(row.shape) }))
}
