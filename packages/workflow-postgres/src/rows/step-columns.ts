import type { JsonText, StepStatus, StoredStep } from '@belay/workflow/adapter'
import { decodeUndo, type UndoColumns } from './undo-columns.ts'

/** The columns that every row about a step has. Their names differ from those of its run. */
export interface StepColumns extends UndoColumns {
  readonly step: number
  readonly name: string
  readonly step_status: StepStatus
  readonly fence: number
  readonly round: number
  readonly attempts: number
  readonly failures: number
  readonly losses: number
  readonly open_dependencies: number
  readonly worker_id: string | null
  readonly step_started_at: number | null
  readonly step_finished_at: number | null
  readonly available_at: number | null
  readonly waiting_since: number | null
  readonly signalled_at: number | null
  readonly failing_since: number | null
  readonly succeeded: boolean
  readonly branch: JsonText
  readonly item_key: string | null
  readonly at_once: number | null
  readonly next_item: number | null
  readonly item_order: readonly number[] | null
  readonly priority: number | null
}

/** A step without its payloads. */
export function decodeStep(row: StepColumns): StoredStep {
  return {
    step: row.step,
    name: row.name,
    status: row.step_status,
    fence: row.fence,
    round: row.round,
    attempts: row.attempts,
    failures: row.failures,
    losses: row.losses,
    openDependencies: row.open_dependencies,
    workerId: row.worker_id,
    undoOf: row.undo_of,
    undo: decodeUndo(row),
    startedAt: row.step_started_at,
    finishedAt: row.step_finished_at,
    availableAt: row.available_at,
    waitingSince: row.waiting_since,
    signalledAt: row.signalled_at,
    failingSince: row.failing_since,
    succeeded: row.succeeded,
    branch: row.branch,
    ...(row.priority === null ? {} : { priority: row.priority }),
    ...(row.item_key === null ? {} : { itemKey: row.item_key }),
    ...(row.at_once === null
      ? {}
      : { turns: { atOnce: row.at_once, nextItem: row.next_item!, order: row.item_order } }),
  }
}
