import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { DERIVED_FROM } from '../../adapter/derived-from.ts'
import type { Adapter, DefinitionRecord, SavedDefinition, WithinTransaction } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'

/** How many numbers there are. Together they stay below the greatest version, 2,147,483,647. */
const DERIVED_COUNT = 1_000_000_000
/** How many numbers are tried. Even with a thousand shapes in the store, one is taken by another shape once in a million times. */
const TRIES_MAX = 5

/**
 * Saves a shape whose version is stored with another shape, under a number that follows from the version and the shape: the same code gets the same
 * number in every process, whichever comes first. A number that holds anything else is passed over. Null if none is free.
 */
export async function saveDerived(
  adapter: Pick<Adapter, 'saveDefinitions'>,
  record: DefinitionRecord,
  within?: WithinTransaction,
): Promise<SavedDefinition | null> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const wanted = derivedRecord(record, attempt)
    const [saved] = await adapter.saveDefinitions([wanted], within)
    if (saved!.checksum === wanted.checksum && saved!.shape.derivedFrom === record.version) return saved!
  }
  return null
}

/** The workflow as the store knows it, with the derived version. */
export function withVersionOf(workflow: WorkflowDefinition, saved: SavedDefinition): WorkflowDefinition {
  const { name, steps, graph, runnable, followUp, deadlineMs, priority, start } = workflow
  const { id: _, uncommitted: __, ...record } = saved
  return {
    ...{ name, steps, graph, runnable, followUp, deadlineMs, priority, start, record },
    version: saved.version,
    validate: (input) => workflow.validate(input),
  }
}

function derivedRecord(
  { name, version, checksum, shape }: DefinitionRecord,
  attempt: number,
): DefinitionRecord {
  const number = DERIVED_FROM + ((hashOf(`${version}:${checksum}`) + attempt) % DERIVED_COUNT)
  return { name, version: number, checksum, shape: { ...shape, derivedFrom: version } }
}

/** 48 bits of a hash: more than a number has, and exact. */
function hashOf(text: string): number {
  return sha256(utf8ToBytes(text))
    .subarray(0, 6)
    .reduce((number, byte) => number * 256 + byte, 0)
}
