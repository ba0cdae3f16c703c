import type { ChangedRun } from '@belay/workflow/adapter'
import { contended, lockWait } from '../base/lock-wait.ts'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import { type CancelRequest, cancel } from '../rows/stop-runs.ts'

/** Stops all of these runs, or none: the engine sends them apart if one is locked or refused. */
export async function cancelRuns(
  connection: Connection,
  request: CancelRequest,
): Promise<readonly ChangedRun[]> {
  const runIds = [...new Set(request.runIds.filter(isUuid))]
  if (runIds.length === 0) return []
  try {
    return await cancel(connection, request, runIds, lockWait(runIds.length))
  } catch (error) {
    throw contended(error, runIds)
  }
}
