import {
  BelayError,
  type DefinitionRecord,
  type DefinitionsRequest,
  definitionNumber,
  LIVE_STATUSES,
  type ListedDefinition,
  type SavedDefinition,
} from '@belay/workflow/adapter'
import type { DefinitionRow, Rows, RunRow } from './rows.ts'
import type { MemoryTransaction } from './transaction.ts'

export function saveDefinitions(
  rows: Rows,
  definitions: readonly DefinitionRecord[],
): readonly SavedDefinition[] {
  return definitions.map((definition) => {
    const held = find(rows, definition) ?? insert(rows, definition)
    return structuredClone(held.saved)
  })
}

/** `tx` is only checked: definitions saved in a transaction are visible at once. */
export function readDefinitions(
  rows: Rows,
  definitionIds: readonly number[],
  tx?: MemoryTransaction,
): readonly SavedDefinition[] {
  tx?.assertOpen()
  return [...new Set(definitionIds)].flatMap((id) => {
    const found = rows.definitions.get(id)
    return found === undefined ? [] : [structuredClone(found.saved)]
  })
}

/** The definition of a version, or of the highest one. */
export function findDefinition(
  rows: Rows,
  { name, version }: { readonly name: string; readonly version?: number | undefined },
  tx?: MemoryTransaction,
): SavedDefinition | null {
  tx?.assertOpen()
  const versions = [...rows.definitions.values()].filter(
    ({ saved }) => saved.name === name && (version === undefined || saved.version === version),
  )
  const [newest] = versions.sort((one, other) => other.saved.version - one.saved.version)
  return newest === undefined ? null : structuredClone(newest.saved)
}

/** The versions of workflows, with their live runs. */
export function listDefinitions(
  rows: Rows,
  { after, limit, liveMax }: DefinitionsRequest,
): readonly ListedDefinition[] {
  const all = [...rows.definitions.values()]
  const names = [...new Set(all.map(({ saved }) => saved.name))].sort()
  const wanted = names.filter((name) => after === null || name > after).slice(0, limit)
  return wanted.flatMap((name) => {
    const { counted, capped } = oldestLiveRuns(rows, name, liveMax)
    return all
      .filter(({ saved }) => saved.name === name)
      .sort((one, other) => other.saved.version - one.saved.version)
      .map((row) => ({
        name,
        version: row.saved.version,
        createdAt: row.createdAt,
        liveRuns: counted.filter(({ definition }) => definition === row).length,
        capped,
      }))
  })
}

/** Of each stored status the oldest live runs, at most `max`. */
function oldestLiveRuns(
  rows: Rows,
  name: string,
  max: number,
): { readonly counted: readonly RunRow[]; readonly capped: boolean } {
  const byStatus = LIVE_STATUSES.map((status) =>
    [...rows.liveRuns]
      .filter((run) => run.workflow === name && run.status === status)
      .sort((one, other) => (one.runId < other.runId ? -1 : 1)),
  )
  return {
    counted: byStatus.flatMap((runs) => runs.slice(0, max)),
    capped: byStatus.some((runs) => runs.length > max),
  }
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
  let tries = 0
  while (rows.definitions.has(definitionNumber(definition, tries))) tries += 1
  const saved = structuredClone({ id: definitionNumber(definition, tries), name, version, checksum, shape })
  const row = { saved, createdAt: rows.now, dependents: dependentsOf(saved) }
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
