import { type ChangedRun, StoreContendedError } from '@belay/workflow/adapter'
import { contended, isLockTimeout, lockWait } from '../base/lock-wait.ts'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import { type CancelRequest, cancel } from '../rows/stop-runs.ts'

export async function cancelRuns(
  connection: Connection,
  request: CancelRequest,
): Promise<readonly ChangedRun[]> {
  const runIds = [...new Set(request.runIds.filter(isUuid))]
  if (runIds.length === 0) return []
  try {
    return await cancel(connection, request, runIds, lockWait(runIds.length))
  } catch (error) {
    if (runIds.length === 1 || !isLockTimeout(error)) throw contended(error, runIds)
    return cancelEach(connection, request, runIds)
  }
}

/** One held-up run does not keep the others from being cancelled. */
async function cancelEach(
  connection: Connection,
  request: CancelRequest,
  runIds: readonly string[],
): Promise<readonly ChangedRun[]> {
  const cancelled: ChangedRun[] = []
  const held: { readonly runId: string; readonly error: unknown }[] = []
  for (const runId of runIds) {
    try {
      cancelled.push(...(await cancel(connection, request, [runId], lockWait(runIds.length))))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      held.push({ runId, error })
    }
  }
  const [first] = held
  if (first === undefined) return cancelled
  const message = `${held.length} of ${runIds.length} runs were not cancelled, run ${first.runId} among them: other transactions hold their rows. ${cancelled.length} were cancelled. Cancel the rest again once those transactions have ended.`
  throw new StoreContendedError(message, { runId: first.runId, cause: first.error })
}
