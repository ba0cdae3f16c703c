import type { ParentRun, StoredRun } from '@belay/workflow/adapter'
import { tagsOf } from './run-tags.ts'

/** The columns that every row about a run has. */
export interface RunColumns {
  readonly run_id: string
  readonly workflow: string
  readonly version: number
  readonly definition_id: number
  readonly key: string | null
  readonly cause: string | null
  readonly created_at: number
  readonly finished_at: number | null
  readonly start_at: number | null
  readonly deadline_at: number | null
  readonly tags: string | null
  readonly parent_run_id: string | null
  readonly parent_step: number | null
  readonly run_priority: number | null
}

/** Decodes a run without its status, which readers decode differently, and without the fields that only some readers need. */
export function decodeRun(row: RunColumns): Omit<StoredRun, 'status' | 'openSteps' | 'stop' | 'endsAs'> {
  return {
    runId: row.run_id,
    workflow: row.workflow,
    version: row.version,
    definitionId: row.definition_id,
    key: row.key,
    cause: row.cause,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    startAt: row.start_at,
    deadlineAt: row.deadline_at,
    tags: tagsOf(row.tags),
    parent: parentOf(row),
    ...(row.run_priority === null ? {} : { priority: row.run_priority }),
  }
}

/** The run that a run was started for. */
export function parentOf(row: Pick<RunColumns, 'parent_run_id' | 'parent_step'>): ParentRun | null {
  return row.parent_run_id === null ? null : { runId: row.parent_run_id, step: row.parent_step }
}
