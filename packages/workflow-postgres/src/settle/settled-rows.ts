import type { ChangedRun } from '@belay/workflow/adapter'
import { type ChangedRunRow, decodeChangedRun } from '../rows/changed-run.ts'

/** A row for each outcome that was recorded, and one for each run whose status changed with them. */
export type SettledRow =
  | { readonly kind: 'settled'; readonly position: number }
  | (ChangedRunRow & { readonly kind: 'run'; readonly status: ChangedRun['status'] })

/** The text that selects such rows: the positions of `steps`, a CTE, and the changed runs that `runs` yields as `r`. */
export function settledRows({ steps, runs }: { readonly steps: string; readonly runs: string }): string {
  return `select 'settled' as kind, settled.position::int as position, null::uuid as run_id, null as status,
  null::int as definition_id, null as key, null as tags, null::float8 as duration_ms,
  null::boolean as reports_end
from ${steps} settled
union all
select 'run', null, r.run_id, r.status, r.definition_id, r.key, r.tags, r.duration_ms, r.reports_end from ${runs}`
}

export interface Settled {
  /** Indexes of the outcomes that were recorded. */
  readonly settled: readonly number[]
  readonly runs: readonly ChangedRun[]
}

export function decodeSettled(rows: readonly SettledRow[]): Settled {
  return {
    settled: rows.flatMap((row) => (row.kind === 'settled' ? [row.position - 1] : [])),
    runs: rows.flatMap((row) => (row.kind === 'run' ? [decodeChangedRun(row, row.status)] : [])),
  }
}
