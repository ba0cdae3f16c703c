import { type SlotHolder, sendApart } from '@belay/workflow/adapter'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Frees the slots of attempts that are over, and of their runs that have ended, and gives each to the step that has waited longest. Guarantee: a slot
 * is freed once, and only after the commit that ended its attempt. Index: slots by holder, waiting steps by line. Locks: keys by (limit, key), for
 * half a second at most.
 */
export const freeLimits: Statement<{ readonly queued: boolean }> = {
  name: 'free_limits',
  text: `
select belay.free_limits($1::uuid[], $2::int[], $3::int[]) as queued`,
}

/** Returns whether steps were queued. Whatever goes wrong is left to whoever tends the limits: the outcomes are recorded, and must be answered. */
export async function free(
  connection: Connection,
  holders: readonly SlotHolder[] | undefined,
): Promise<boolean> {
  if (holders === undefined || holders.length === 0) return false
  let queued = false
  await sendApart(holders, {
    send: async (part) => {
      const values = [
        part.map(({ runId }) => runId),
        part.map(({ step }) => step),
        part.map(({ fence }) => fence),
      ]
      const [row] = await connection.query(freeLimits, values).catch(noneIfLocked)
      queued ||= row?.queued === true
    },
    refused: () => {},
    heldUp: () => {},
    unanswered: () => {},
  })
  return queued
}

/** Whoever waits for an answer does not wait for another lock. */
function noneIfLocked(error: unknown): [] {
  if (isLockTimeout(error)) return []
  throw error
}
