import type { ChangedRun } from '@belay/workflow/adapter'
import { tagsOf } from './run-tags.ts'

/** The columns of `workflow_runs r` that describe a run whose status was changed. */
export const changedRunColumns = `r.definition_id, r.key, array_to_json(r.tags)::text as tags, r.reports_end,
    date_part('epoch', coalesce(r.finished_at, belay.store_now()) - greatest(r.created_at, r.start_at)) * 1000 as duration_ms`

export interface ChangedRunRow {
  readonly run_id: string
  readonly definition_id: number
  readonly key: string | null
  readonly tags: string | null
  readonly reports_end: boolean | null
  readonly duration_ms: number
}

export function decodeChangedRun(row: ChangedRunRow, status: ChangedRun['status']): ChangedRun {
  const run = {
    runId: row.run_id,
    definitionId: row.definition_id,
    status,
    key: row.key,
    tags: tagsOf(row.tags),
    durationMs: wholeMs(row.duration_ms),
  }
  return row.reports_end === true ? { ...run, reportsEnd: true } : run
}

/** Never negative: a run may be stopped before its start time. */
export function wholeMs(ms: number): number {
  return Math.max(0, Math.round(ms))
}
