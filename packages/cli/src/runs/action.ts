import type {
  ActionOptions,
  BulkOptions,
  BulkResult,
  RunHandle,
  RunSummary,
  RunsToChange,
} from '@belay/workflow'
import type { RunStatus } from '@belay/workflow/adapter'
import type { Store } from '../store/store.ts'

/** What a verb does to a run. */
export interface ActionOnRun {
  readonly needsReason?: true
  /** The run goes on with it, or is undone: there is something to follow. */
  readonly isFollowed?: true
  /** Null if there was nothing to change. */
  one(
    run: RunHandle,
    on: { readonly store: Store; readonly found: RunSummary; readonly by: ActionOptions },
  ): Promise<Change | null>
}

/** What it also does to many. */
export interface ActionOnRuns extends ActionOnRun {
  /** After "Type 41 to": `retry them`. */
  readonly them: string
  /** `retried` */
  readonly done: string
  /** What a filter without a status selects. */
  readonly selects: readonly RunStatus[]
  /** `--since` and `--until` mean the end of a run. */
  readonly byEnd?: true
  many(store: Store, runs: RunsToChange, options: BulkOptions): Promise<BulkResult>
}

/** What an action changed. */
export interface Change {
  /** Undefined: the run itself. */
  readonly step?: string
  readonly from: string
  readonly to: string
  /** The steps that may begin now, or may be undone now. */
  readonly next?: readonly string[]
}

/** What of many runs a call is about. */
export type Aim =
  | { readonly run: string }
  | { readonly runs: readonly string[] }
  | { readonly from: 'filter' | 'stdin' }
