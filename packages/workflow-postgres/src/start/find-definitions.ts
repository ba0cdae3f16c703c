import type { DefinitionRecord, SavedDefinition } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Which of these definitions a caller's transaction can see, and which of them will stay if it is rolled back. A definition stays if its row was
 * written by a transaction older than the caller's, or than its beginning. Index: unique (name, version). No locks.
 */
export const findDefinitionsWithin: Statement<{
  readonly id: number
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: string
  readonly is_committed: boolean
}> = {
  name: 'find_definitions_within',
  text: `
select d.id, d.name, d.version, d.checksum, d.shape::text as shape, pg_catalog.age(d.xmin) > 0 as is_committed
from unnest($1::text[], $2::int[]) with ordinality as wanted (name, version, position)
join belay.workflow_definitions d on d.name = wanted.name and d.version = wanted.version
order by wanted.position`,
}

/** The isolation level of a caller's transaction. No tables, no locks. */
export const readIsolation: Statement<{ readonly isolation: string }> = {
  name: 'read_isolation',
  text: `select pg_catalog.current_setting('transaction_isolation') as isolation`,
}

export async function findDefinitions(
  transaction: Connection,
  definitions: readonly Pick<DefinitionRecord, 'name' | 'version'>[],
): Promise<readonly SavedDefinition[]> {
  const rows = await transaction.query(findDefinitionsWithin, [
    definitions.map(({ name }) => name),
    definitions.map(({ version }) => version),
  ])
  return rows.map(({ is_committed: isCommitted, shape, ...row }) => ({
    ...row,
    shape: JSON.parse(shape),
    ...(isCommitted ? {} : { uncommitted: true }),
  }))
}

/** Whether each statement of a transaction sees what others have committed since its beginning. */
export async function seesCommits(transaction: Connection): Promise<boolean> {
  const [row] = await transaction.query(readIsolation, [])
  return row?.isolation === 'read committed' || row?.isolation === 'read uncommitted'
}
