import type { DefinitionRecord, SavedDefinition } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import { within } from '../connection/within.ts'
import { findDefinitions } from './find-definitions.ts'
import { saveDefinitions } from './save-definitions.ts'

/** Belay's own connection, when one can be had without waiting for others; else null. */
export type Beside = () => Connection | null

/** How long to wait for somebody else who saves the same definition; then it is saved in the caller's transaction, and waits there. */
const BESIDE_TIMEOUT_MS = 2_000

/**
 * Makes sure that definitions are stored, for a caller's open transaction. It looks for them there first: the caller has a connection, and
 * perhaps the last one of its pool, so that nothing here may wait for another. What is missing is saved beside the transaction when a
 * connection is free, and in it when none is.
 *
 * *Many first calls at once, which hold all connections of a pool:* each saves it in its own transaction. The first one's row makes the
 * others wait at the unique index; when it commits they find its row, and when it is rolled back the next one inserts. Nobody who has
 * inserted waits for those who wait. *Somebody saves it beside, while another has it in an open transaction:* the same wait, bounded;
 * then this transaction waits for the other itself, as the caller's statements do. *Under a stricter isolation* the database answers
 * such a wait with a serialization failure, as it does for a row that was saved beside (start-within.ts).
 */
export async function saveWithin(
  { transaction, beside }: { readonly transaction: Connection; readonly beside: Beside },
  definitions: readonly DefinitionRecord[],
): Promise<readonly SavedDefinition[]> {
  const found = await findDefinitions(transaction, definitions)
  const missing = definitions.filter(
    ({ name, version }) => !found.some((saved) => saved.name === name && saved.version === version),
  )
  if (missing.length === 0) return found
  const saved = await savedBeside(beside(), missing)
  if (saved === null) {
    await saveDefinitions(transaction, missing)
    return findDefinitions(transaction, definitions)
  }
  return definitions.map(
    ({ name, version }) =>
      [...found, ...saved].find((definition) => definition.name === name && definition.version === version)!,
  )
}

async function savedBeside(
  connection: Connection | null,
  definitions: readonly DefinitionRecord[],
): Promise<readonly SavedDefinition[] | null> {
  if (connection === null) return null
  // As one transaction, which takes a single connection: a second one might be gone by then.
  const saving = connection.transaction((own) => saveDefinitions(own, definitions))
  // Whatever is wrong beside the transaction, or takes too long there, its own connection may do.
  return within(BESIDE_TIMEOUT_MS, saving, () => new Error('too late')).catch(() => null)
}
