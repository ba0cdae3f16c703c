import { changeRun } from './control.ts'
import { Rows, type RunRow } from './rows.ts'
import { deliverSignals, signalsOf } from './signals.ts'
import { createRun } from './start.ts'
import type { ChangeRequest, MemoryTransaction } from './transaction.ts'

/** Decides a change on the run as the transaction sees it. The change is made when the transaction commits; until then the run is locked. */
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

/** Makes a transaction's changes when it commits. */
export function applyChanges(rows: Rows, tx: MemoryTransaction): void {
  for (const { request } of tx.changes) changeRun(rows, request)
}

/** The first run whose changes would have a different result now. */
export function outdatedRun(rows: Rows, tx: MemoryTransaction): string | undefined {
  return [...new Set(tx.changes.map(({ request }) => request.runId))].find((runId) => {
    try {
      seenBy(rows, tx, runId)
      return false
    } catch {
      return true
    }
  })
}

/** The name under which a change locks its run until its transaction ends. */
export function nameOfRun(runId: string): string {
  return `run ${runId}`
}

/** A store with a copy of this one run, with everything applied that the transaction has done to it. Throws if that cannot be applied any more. */
function seenBy(rows: Rows, tx: MemoryTransaction, runId: string): Rows {
  const seen = new Rows(rows.clock)
  for (const [id, definition] of rows.definitions) seen.definitions.set(id, definition)
  const stored = rows.runs.get(runId)
  const started = tx.runs.get(runId)
  if (stored !== undefined)
    seen.addRun({ ...stored, steps: stored.steps.map((step) => ({ ...step })), items: copyOf(stored.items) })
  else if (started !== undefined) createRun(seen, started)
  else return seen
  seen.signals.set(runId, signalsOf(rows, runId))
  deliverSignals(
    seen,
    tx.signals.filter((signal) => signal.runId === runId),
  )
  for (const { request, told } of tx.changes) {
    if (request.runId !== runId) continue
    if (JSON.stringify(changeRun(seen, request)) !== told)
      throw new Error('The run was changed outside the transaction.')
  }
  return seen
}

function copyOf(items: RunRow['items']): RunRow['items'] {
  return new Map([...items].map(([number, item]) => [number, { ...item }]))
}
