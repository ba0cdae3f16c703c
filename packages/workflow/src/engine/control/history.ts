import type { HistoryRecord } from '../../adapter/index.ts'
import { fromJsonText } from '../base/payload.ts'

/** An operator's action on a run, or a signal it received. */
export interface RunHistoryEntry {
  readonly at: Date
  /** `cancel`, `pause`, `resume`, `retry`, `retry_step`, `skip_step`, `retry_compensation`, `skip_compensation`, `migrate`, `drop`; `signal` for a signal or a decision. */
  readonly action: string
  /** The name of the step that the action or signal was for. */
  readonly step: string | undefined
  readonly by: string | undefined
  readonly reason: string | undefined
  /** The statuses of the run and its steps before and after the action. For a signal, its payload. */
  readonly change: unknown
  /** For a signal, the sender's key. */
  readonly key: string | undefined
}

/** Makes an entry readable. An operator's entry holds the name of its step, because the run may have moved to another version since. */
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
