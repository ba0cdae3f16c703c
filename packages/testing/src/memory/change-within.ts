import { changeRun } from './control.ts'
import { Rows } from './rows.ts'
import { deliverSignals, signalsOf } from './signals.ts'
import { createRun } from './start.ts'
import type { ChangeRequest, MemoryTransaction } from './transaction.ts'

/** Decides a change on the run as the transaction sees it; it is made when that commits, and the run is held until then. */
export function changeWithin<Answer extends object>(
  rows: Rows,
  request: ChangeRequest<Answer>,
  tx: MemoryTransaction,
): Answer | null {
  tx.assertOpen()
  const answer = changeRun(seenBy(rows, tx, request.runId), request)
  if (answer === null) return null
  tx.changes.push({ request, told: JSON.stringify(answer) })
  tx.hold([nameOfRun(request.runId)])
  return answer
}

/** Makes the changes of a transaction that commits. */
export function applyChanges(rows: Rows, tx: MemoryTransaction): void {
  for (const { request } of tx.changes) changeRun(rows, request)
}

/** The first run whose changes would come to something else by now. */
export function movedRun(rows: Rows, tx: MemoryTransaction): string | undefined {
  return [...new Set(tx.changes.map(({ request }) => request.runId))].find((runId) => {
    try {
      seenBy(rows, tx, runId)
      return false
    } catch {
      return true
    }
  })
}

/** What a change holds against other transactions until its own ends. */
export function nameOfRun(runId: string): string {
  return `run ${runId}`
}

/** A store with a copy of this one run, as it is with all that the transaction has done to it. Throws when it can't be done to it any more. */
function seenBy(rows: Rows, tx: MemoryTransaction, runId: string): Rows {
  const seen = new Rows(rows.clock)
  for (const [id, definition] of rows.definitions) seen.definitions.set(id, definition)
  const stored = rows.runs.get(runId)
  const started = tx.runs.get(runId)
  if (stored !== undefined) seen.addRun({ ...stored, steps: stored.steps.map((step) => ({ ...step })) })
  else if (started !== undefined) createRun(seen, started)
  else return seen
  seen.signals.set(runId, signalsOf(rows, runId))
  deliverSignals(
    seen,
    tx.signals.filter((signal) => signal.runId === runId),
  )
  for (const { request, told } of tx.changes) {
    if (request.runId !== runId) continue
    if (JSON.stringify(changeRun(seen, request)) !== told) throw new Error('The run has moved on.')
  }
  return seen
}
