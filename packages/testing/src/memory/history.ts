import type { HistoryRecord } from '@belay/workflow/adapter'
import type { Rows } from './rows.ts'

/** Records an operator's action in the run's history. */
export function note(
  rows: Rows,
  runId: string,
  entry: Pick<HistoryRecord, 'action' | 'actor' | 'reason' | 'change'>,
): void {
  const past = rows.history.get(runId) ?? []
  rows.history.set(runId, [...past, { ...entry, at: rows.now, step: null, name: null, key: null }])
}
