import {
  type KeepsAttempts,
  type RunChange,
  type RunToChange,
  StoreContendedError,
} from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import { keepTaken } from '../rows/kept-attempts.ts'
import { lock } from './lock-run.ts'
import { write } from './write-run-change.ts'

/** How often a run may move to another definition while one change of it waits. */
const MOVES_MAX = 5

/** Changes a run as `decide` says, in one transaction that holds the lock on the run. After a deadlock or a serialization failure it begins again. */
export async function changeRun<Answer extends object>(
  connection: Connection,
  request: KeepsAttempts & {
    readonly runId: string
    readonly decide: (found: RunToChange) => { readonly change: RunChange | null; readonly answer: Answer }
    readonly leavesItems?: boolean | undefined
  },
): Promise<Answer | null> {
  if (!isUuid(request.runId)) return null
  let leavesItems = request.leavesItems === true
  for (let tries = 1; ; tries += 1) {
    const result = await connection.transaction(async (transaction) => {
      const found = await lock(transaction, request.runId, { leavesItems })
      if (found === null || found === 'moved') return found
      if (leavesItems && found.run.endsAs !== null) return 'undone'
      const { change, answer } = request.decide(found)
      if (change !== null && request.keepAttempts) await keepTaken(transaction, found, change)
      if (change !== null) await write(transaction, found, change)
      return { answer }
    })
    if (result === null) return null
    if (result === 'undone') leavesItems = false
    else if (result !== 'moved') return result.answer
    if (tries === MOVES_MAX) throw movedMeanwhile(request.runId)
  }
}

function movedMeanwhile(runId: string): StoreContendedError {
  return new StoreContendedError(
    `Run ${runId} could not be changed: it was moved to another version ${MOVES_MAX} times meanwhile. Nothing was written.`,
    { remedy: 'Try again once it is no longer being moved.', runId },
  )
}
