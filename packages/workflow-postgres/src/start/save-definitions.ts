import {
  DEFINITION_NUMBERS_MAX,
  type DefinitionRecord,
  type DefinitionShape,
  definitionNumber,
  type SavedDefinition,
  type StepShape,
} from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Inserts the missing definitions with their edges, under the given numbers; one whose number is taken is left out. Guarantee: it never overwrites; a
 * definition and its edges commit together, so neither is seen without the other. Index: unique (name, version), primary key. Locks: rows inserted in
 * the order of (name, version), so that processes that start at the same time cannot deadlock.
 */
export const insertDefinitions: Statement<{ readonly id: number }> = {
  name: 'insert_definitions',
  text: `
with new_definitions as (
  select n.name, n.version, n.checksum, n.shape, n.pivots, n.irreversible, n.id
  from unnest($1::text[], $2::int[], $3::text[], $4::text[], $12::text[], $13::text[], $14::int[])
    as n (name, version, checksum, shape, pivots, irreversible, id)
  where not exists (
    select from belay.workflow_definitions d where d.name = n.name and d.version = n.version
  )
  order by n.name, n.version
),
created_definitions as (
  insert into belay.workflow_definitions (id, name, version, checksum, shape, created_at, pivots, irreversible)
  -- The column was made for numbers in sequence, which earlier code still takes.
  overriding system value
  select n.id, n.name, n.version, n.checksum, n.shape::json, belay.store_now(), n.pivots::int[], n.irreversible::int[]
  from new_definitions n
  on conflict do nothing
  returning id, name, version
),
new_steps as (
  select s.name, s.version, s.step, s.step_name, s.kind,
    array(select value::int from json_array_elements_text(s.dependencies::json) as value) as dependencies,
    array(select value::int from json_array_elements_text(s.dependents::json) as value) as dependents
  from unnest($5::text[], $6::int[], $7::int[], $8::text[], $9::text[], $10::text[], $11::text[])
    as s (name, version, step, step_name, dependencies, dependents, kind)
),
created_steps as (
  insert into belay.workflow_definition_steps (definition_id, step, name, dependencies, dependents, kind)
  select c.id, s.step, s.step_name, s.dependencies, s.dependents, s.kind
  from created_definitions c
  join new_steps s on s.name = c.name and s.version = c.version
  order by c.id, s.step
)
select id from created_definitions`,
}

/** What the store holds for each (name, version). Index: unique (name, version). No locks. */
export const readDefinitions: Statement<{
  readonly id: number
  readonly name: string
  readonly version: number
  readonly checksum: string
  readonly shape: string
}> = {
  name: 'read_definitions',
  text: `
select d.id, d.name, d.version, d.checksum, d.shape::text as shape
from unnest($1::text[], $2::int[]) with ordinality as wanted (name, version, position)
join belay.workflow_definitions d on d.name = wanted.name and d.version = wanted.version
order by wanted.position`,
}

export async function saveDefinitions(
  connection: Connection,
  definitions: readonly DefinitionRecord[],
): Promise<readonly SavedDefinition[]> {
  if (definitions.length === 0) return []
  const names = definitions.map((definition) => definition.name)
  const versions = definitions.map((definition) => definition.version)
  let missing = [...new Map(definitions.map((definition) => [nameOf(definition), definition])).values()]
  for (let tries = 0; tries < DEFINITION_NUMBERS_MAX; tries += 1) {
    await insert(connection, missing, tries)
    // A second statement has a fresh snapshot: it also sees what another process inserted meanwhile.
    const rows = await connection.query(readDefinitions, [names, versions])
    const stored = new Set(rows.map(nameOf))
    missing = missing.filter((definition) => !stored.has(nameOf(definition)))
    if (missing.length === 0) return rows.map((row) => ({ ...row, shape: JSON.parse(row.shape) }))
  }
  throw new Error(
    `Workflow ${nameOf(missing[0]!)} was not stored: other definitions have all ${DEFINITION_NUMBERS_MAX} numbers that it may have. This should be impossible; report it with the rows of workflow_definitions.`,
  )
}

async function insert(
  connection: Connection,
  definitions: readonly DefinitionRecord[],
  tries: number,
): Promise<void> {
  await connection.query(insertDefinitions, [
    definitions.map((definition) => definition.name),
    definitions.map((definition) => definition.version),
    definitions.map((definition) => definition.checksum),
    definitions.map((definition) => JSON.stringify(definition.shape)),
    ...columnsOfSteps(definitions),
    definitions.map(({ shape }) => numbersOf(shape, ({ pivot }) => pivot)),
    definitions.map(({ shape }) => numbersOf(shape, ({ irreversible }) => irreversible)),
    definitions.map((definition) => definitionNumber(definition, tries)),
  ])
}

/** The numbers of the steps of which this is true, as the text of an array; null if there are none. */
function numbersOf(
  { steps }: DefinitionShape,
  isOne: (step: StepShape) => boolean | undefined,
): string | null {
  const numbers = steps.flatMap((step, number) => (isOne(step) ? [number] : []))
  return numbers.length === 0 ? null : `{${numbers.join()}}`
}

function nameOf({ name, version }: Pick<DefinitionRecord, 'name' | 'version'>): string {
  return `${name}@${version}`
}

function columnsOfSteps(definitions: readonly DefinitionRecord[]): readonly unknown[] {
  const rows = definitions.flatMap(({ name, version, shape }) => {
    const dependents: number[][] = shape.steps.map(() => [])
    for (const [step, { dependsOn }] of shape.steps.entries()) {
      for (const dependency of dependsOn) dependents[dependency]?.push(step)
    }
    return shape.steps.map((step, number) => ({
      name,
      version,
      number,
      step,
      dependents: dependents[number],
    }))
  })
  return [
    rows.map((row) => row.name),
    rows.map((row) => row.version),
    rows.map((row) => row.number),
    rows.map((row) => row.step.name),
    rows.map((row) => JSON.stringify(row.step.dependsOn)),
    rows.map((row) => JSON.stringify(row.dependents)),
    rows.map((row) => row.step.kind ?? null),
  ]
}
