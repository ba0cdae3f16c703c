import type { SavedDefinition } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

interface DefinitionRow {
  readonly id: number
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: string
}

/** Definitions by number. Index: primary key. No locks, because they never change. */
export const readDefinitionsById: Statement<DefinitionRow> = {
  name: 'read_definitions_by_id',
  text: `
select d.id, d.name, d.version, d.checksum, d.shape::text as shape
from unnest($1::int[]) as wanted (id)
join belay.workflow_definitions d on d.id = any (array[wanted.id])`,
}

/** One version of a definition, or its highest version. Index: unique (name, version), read from its end. No locks. */
export const findDefinitionByName: Statement<DefinitionRow> = {
  name: 'find_definition_by_name',
  text: `
select d.id, d.name, d.version, d.checksum, d.shape::text as shape
from belay.workflow_definitions d
where d.name = $1::text and d.version between coalesce($2::int, 1) and coalesce($2::int, 2147483647)
order by d.version desc
limit 1`,
}

export async function findDefinition(
  connection: Connection,
  { name, version }: { readonly name: string; readonly version?: number | undefined },
): Promise<SavedDefinition | null> {
  const [row] = await connection.query(findDefinitionByName, [name, version ?? null])
  return row === undefined ? null : { ...row, shape: JSON.parse(row.shape) }
}

export async function readDefinitions(
  connection: Connection,
  definitionIds: readonly number[],
): Promise<readonly SavedDefinition[]> {
  if (definitionIds.length === 0) return []
  const rows = await connection.query(readDefinitionsById, [[...new Set(definitionIds)]])
  return rows.map((row) => ({ ...row, shape: JSON.parse(row.shape) }))
}
