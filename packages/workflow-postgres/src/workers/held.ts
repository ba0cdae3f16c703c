import type { Claim, NamesRefused } from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { LeaseJournal } from '../rows/lease-journal.ts'
import { held, heldApart } from './read-state.ts'
import { trimLeases } from './trim-leases.ts'

/** The most journal rows that one call merges. */
const TRIMMED_MAX = 1_000

/**
 * All steps that a worker holds. Also merges the rows of its journal, so that the next call costs no more than the steps held. While the database
 * cannot read one of the journal's runs, the rows stay as they are.
 */
export async function heldAndTrimmed(
  connection: Connection,
  request: NamesRefused & { readonly workerId: string },
  journal: LeaseJournal,
): Promise<readonly Claim[]> {
  try {
    await trim(connection, request.workerId, journal)
  } catch (error) {
    const { onRefused } = request
    if (onRefused === undefined || !isOfStatement(error)) throw error
    let isOfRow = false
    const claims = await heldApart(connection, {
      ...request,
      onRefused: (refused) => {
        isOfRow = true
        onRefused(refused)
      },
    })
    // Every run can be read: something else keeps the journal from being merged.
    if (!isOfRow) throw error
    return claims
  }
  return held(connection, request)
}

async function trim(connection: Connection, workerId: string, journal: LeaseJournal): Promise<void> {
  const [trimmed] = await connection.query(trimLeases, [workerId, TRIMMED_MAX])
  const { removed_ids: removed, id, run_ids: runIds } = trimmed!
  journal.removed(workerId, removed)
  if (id !== null) journal.wrote(workerId, { id, runIds })
}
