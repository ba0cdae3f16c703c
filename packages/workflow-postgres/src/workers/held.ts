import type { Claim } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { LeaseJournal } from '../rows/lease-journal.ts'
import { held } from './read-state.ts'
import { trimLeases } from './trim-leases.ts'

/** The most journal rows that one call merges. */
const TRIMMED_MAX = 1_000

/** All steps that a worker holds. Also merges the rows of its journal, so that the next call costs no more than the steps held. */
export async function heldAndTrimmed(
  connection: Connection,
  request: { readonly workerId: string },
  journal: LeaseJournal,
): Promise<readonly Claim[]> {
  const { workerId } = request
  const [trimmed] = await connection.query(trimLeases, [workerId, TRIMMED_MAX])
  const { removed_ids: removed, id, run_ids: runIds } = trimmed!
  journal.removed(workerId, removed)
  if (id !== null) journal.wrote(workerId, { id, runIds })
  return held(connection, request)
}
