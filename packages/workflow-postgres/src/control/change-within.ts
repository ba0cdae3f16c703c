import type { RunChange, RunToChange } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Wakeup } from '../store/wakeup.ts'
import { changeRun } from './change-run.ts'
import { readLockTimeout, setLockTimeout } from './lock-timeout.ts'

/**
 * Changes a run in the caller's transaction, under a savepoint: a refused change leaves nothing behind, not even a lock. Workers are told when the
 * transaction commits.
 */
export async function changeWithin<Answer extends object>(
  { transaction, wakeup }: { readonly transaction: Connection; readonly wakeup: Wakeup },
  request: {
    readonly runId: string
    readonly decide: (found: RunToChange) => { readonly change: RunChange | null; readonly answer: Answer }
    readonly leavesItems?: boolean | undefined
  },
): Promise<Answer | null> {
  const definitionIds = new Set<number>()
  const decide = (found: RunToChange) => {
    const decided = request.decide(found)
    const { change } = decided
    if (change !== null && mayGoOn(change)) definitionIds.add(found.run.definitionId)
    return decided
  }
  const [before] = await transaction.query(readLockTimeout, [])
  const answer = await changeRun(transaction, {
    runId: request.runId,
    decide,
    leavesItems: request.leavesItems,
  })
  // The caller's later statements keep the caller's limit.
  await transaction.query(setLockTimeout, [before!.lock_timeout])
  if (definitionIds.size > 0) await wakeup.wakeAfter?.(transaction, [...definitionIds])
  return answer
}

/** Whether the change makes a step claimable, or an undo may begin. */
function mayGoOn({ queue, queuesItems, run }: RunChange): boolean {
  return queue.length > 0 || queuesItems === true || run.status === 'compensating'
}
