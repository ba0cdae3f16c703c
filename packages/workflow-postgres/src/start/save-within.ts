import type { DefinitionRecord, SavedDefinition } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import { within } from '../connection/within.ts'
import { findDefinitions } from './find-definitions.ts'
import { saveDefinitions } from './save-definitions.ts'

/** Belay's own connection if one is free now, else null. */
export type Beside = () => Connection | null

/**
 * How long to wait for another process that saves the same definition, in milliseconds. After that, it is saved, and waited for, in the caller's
 * transaction.
 */
const BESIDE_TIMEOUT_MS = 2_000

/**
 * Makes sure that definitions are stored, for a caller's open transaction. It looks for them in that transaction first: the caller may hold the last
 * connection of its pool, so nothing here may wait for another one. Missing definitions are saved beside the transaction if a connection is free, and
 * within it otherwise.
 *
 * *Many first calls at once hold all connections of a pool:* each saves the definition in its own transaction. The first row makes the others wait at
 * the unique index. If it commits, they find the row; if it is rolled back, the next one inserts. A call that has inserted waits for none that are
 * waiting. *One call saves beside its transaction, while another has inserted in an open transaction:* the same wait, but bounded; after that this
 * transaction waits itself, like any statement of the caller. *Under a stricter isolation level* the database ends such a wait with a serialization
 * failure, as it does for a row saved beside (start-within.ts).
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
  // One transaction needs a single connection: a second one might be gone by then.
  const saving = connection.transaction((own) => saveDefinitions(own, definitions))
  // If this fails or takes too long beside the transaction, the transaction's own connection may still succeed.
  return within(BESIDE_TIMEOUT_MS, saving, () => new Error('too late')).catch(() => null)
}
