import {
  DEFINITION_NUMBERS_MAX,
  type DefinitionRecord,
  definitionNumber,
  type SavedDefinition,
} from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** Inserts definitions that are missing, in the order of their names: processes that start at once cannot deadlock. Index: unique (name, version), primary key. */
const insertDefinitions: Statement<never> = {
  name: null,
  text: `
insert into belay.workflow_definitions (id, name, version, checksum, shape, created_at)
select n.id, n.name, n.version, n.checksum, n.shape::json, belay.store_now()
from unnest($1::int[], $2::text[], $3::int[], $4::text[], $5::text[]) as n (id, name, version, checksum, shape)
where not exists (select from belay.workflow_definitions d where d.name = n.name and d.version = n.version)
order by n.name, n.version
on conflict do nothing`,
}

/** What is stored of each (name, version). Index: unique (name, version). No locks. */
const readDefinitions: Statement<{
  readonly id: number
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: string
}> = {
  name: null,
  text: `
select d.id, d.name, d.version, d.checksum, d.shape::text as shape
from unnest($1::text[], $2::int[]) with ordinality as wanted (name, version, position)
join belay.workflow_definitions d on d.name = wanted.name and d.version = wanted.version
order by wanted.position`,
}

/** A second statement has a fresh snapshot: it also sees what another process has just inserted. */
export async function define(
  connection: Connection,
  definitions: readonly DefinitionRecord[],
): Promise<readonly SavedDefinition[]> {
  if (definitions.length === 0) return []
  const names = definitions.map(({ name }) => name)
  const versions = definitions.map(({ version }) => version)
  let missing: readonly DefinitionRecord[] = [
    ...new Map(definitions.map((each) => [nameOf(each), each])).values(),
  ]
  for (let tries = 0; tries < DEFINITION_NUMBERS_MAX; tries += 1) {
    await connection.query(insertDefinitions, [
      missing.map((each) => definitionNumber(each, tries)),
      missing.map(({ name }) => name),
      missing.map(({ version }) => version),
      missing.map(({ checksum }) => checksum),
      missing.map(({ shape }) => JSON.stringify(shape)),
    ])
    const rows = await connection.query(readDefinitions, [names, versions])
    const stored = new Set(rows.map(nameOf))
    missing = missing.filter((each) => !stored.has(nameOf(each)))
    if (missing.length === 0) return rows.map((row) => ({ ...row, shape: JSON.parse(row.shape) }))
  }
  throw new Error(
    `Workflow ${nameOf(missing[0]!)} was not stored: other definitions have all ${DEFINITION_NUMBERS_MAX} numbers that it may have. This should be impossible; report it with the rows of workflow_definitions.`,
  )
}

function nameOf({ name, version }: Pick<DefinitionRecord, 'name' | 'version'>): string {
  return `${name}@${version}`
}
