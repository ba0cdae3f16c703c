import type { HistoryRecord } from '../../adapter/index.ts'
import { fromJsonText } from '../base/payload.ts'

/** Something that was done to a run from outside: by an operator, or by a signal. */
export interface RunHistoryEntry {
  readonly at: Date
  /** `cancel`, `pause`, `resume`, `retry`, `retry_step`, `skip_step`, `retry_compensation`, `skip_compensation`, `migrate`; `signal` for a signal or a decision. */
  readonly action: string
  /** The step it was about, by name. */
  readonly step: string | undefined
  readonly by: string | undefined
  readonly reason: string | undefined
  /** What changed by it: statuses of the run and of its steps before and after. Of a signal, its payload. */
  readonly change: unknown
  /** The sender's key, of a signal. */
  readonly key: string | undefined
}

/** An entry as people read it. Entries of operators name their step themselves: the run may have moved to another version since. */
export function historyEntry(record: HistoryRecord): RunHistoryEntry {
  const change = fromJsonText(record.change)
  const own = record.action === 'signal' ? undefined : (change as { step?: string } | undefined)?.step
  return {
    at: new Date(record.at),
    action: record.action,
    step: own ?? record.name ?? undefined,
    by: record.actor ?? undefined,
    reason: record.reason ?? undefined,
    change,
    key: record.key ?? undefined,
  }
}
