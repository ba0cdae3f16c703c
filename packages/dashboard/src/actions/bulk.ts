import type { BulkOptions, BulkResult, Engine, RunsToChange, WorkflowDefinition } from '@belay/workflow'
import type { ActionRequest } from '../api.ts'

/** Acts on many runs, or with `dryRun` tells what that would do. */
export type Bulk = (runs: RunsToChange, options: BulkOptions) => Promise<BulkResult>

interface BulkAction {
  readonly verb: ActionRequest['verb'] | 'move'
  readonly step?: string | undefined
  readonly priority?: number | undefined
  /** For `move`. */
  readonly definition?: WorkflowDefinition | undefined
}

/** The engine's verb for many runs; undefined for what is done to one run only. The dry run about one run goes the same way. */
export function bulkOf({ runs }: Engine, action: BulkAction): Bulk | undefined {
  const { verb, step = '', priority = 0, definition } = action
  switch (verb) {
    case 'cancel':
      return (some, options) => runs.cancelMany(some, options)
    case 'pause':
      return (some, options) => runs.pauseMany(some, options)
    case 'resume':
      return (some, options) => runs.resumeMany(some, options)
    case 'retry':
      return (some, options) => runs.retryMany(some, options)
    case 'setPriority':
      return (some, options) => runs.setPriorityMany(some, priority, options)
    case 'retryCompensation':
      return (some, options) => runs.retryCompensationMany(some, step, options)
    case 'skipCompensation':
      return (some, options) => runs.skipCompensationMany(some, step, options)
    case 'move':
      return definition && ((some, options) => runs.migrateMany(some, definition, options))
    default:
      return undefined
  }
}
