import { type SlotHolder, sendApart } from '@belay/workflow/adapter'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Frees the slots of attempts that are over, and of their runs that have ended, and calls the steps that have waited longest. Guarantee: a slot is freed
 * once, and only after the commit that ended its attempt. Index: slots by holder, waiting steps by line. Locks: keys by (limit, key) that nobody else
 * has locked, or a tenth of a second later.
 */
export const freeLimits: Statement<{ readonly queued: boolean; readonly held_up: boolean }> = {
  name: 'free_limits',
  text: `
select f.queued, f.held_up from belay.free_limits($1::uuid[], $2::int[], $3::int[], $4::text) f`,
}

/** How long to wait for keys that somebody else has locked: others that decide about them need no longer. */
const KEY_WAIT = '100ms'

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
      const [row] = await connection.query(freeLimits, [...values, null])
      queued ||= row!.queued
      if (!row!.held_up) return
      // Apart from the others: a key that stays locked keeps only its own slots taken.
      const [waited] = await connection.query(freeLimits, [...values, KEY_WAIT]).catch(noneIfLocked)
      queued ||= waited?.queued === true
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
