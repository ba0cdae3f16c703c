import { BelayError, type DefinitionRecord, type SavedDefinition } from '@belay/workflow/adapter'
import type { DefinitionRow, Rows } from './rows.ts'

export function saveDefinitions(
  rows: Rows,
  definitions: readonly DefinitionRecord[],
): readonly SavedDefinition[] {
  return definitions.map((definition) => {
    const held = find(rows, definition) ?? insert(rows, definition)
    return structuredClone(held.saved)
  })
}

/** A definition by the store's number. */
export function definitionOf(rows: Rows, definitionId: number): DefinitionRow {
  const definition = rows.definitions.get(definitionId)
  if (definition !== undefined) return definition
  throw new BelayError(
    'unknown_workflow',
    `This store has no definition with id ${definitionId}. Save the definition first and use the id that saveDefinitions returns.`,
  )
}

function find(rows: Rows, { name, version }: DefinitionRecord): DefinitionRow | undefined {
  for (const row of rows.definitions.values()) {
    if (row.saved.name === name && row.saved.version === version) return row
  }
  return undefined
}

function insert(rows: Rows, definition: DefinitionRecord): DefinitionRow {
  const { name, version, checksum, shape } = definition
  const saved = structuredClone({ id: rows.definitions.size + 1, name, version, checksum, shape })
  const row = { saved, dependents: dependentsOf(saved) }
  rows.definitions.set(saved.id, row)
  return row
}

function dependentsOf({ shape }: DefinitionRecord): readonly (readonly number[])[] {
  const dependents: number[][] = shape.steps.map(() => [])
  shape.steps.forEach((step, number) => {
    for (const dependency of step.dependsOn) dependents[dependency]!.push(number)
  })
  return dependents
}
