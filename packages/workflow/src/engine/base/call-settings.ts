import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Logger } from '../../logger.ts'
import type { Runtime } from './runtime.ts'

/** The engine options that calls with payloads need. */
export interface CallSettings {
  readonly workflows: readonly WorkflowDefinition[]
  readonly payloadMaxBytes: number
  readonly log: Logger
  readonly runtime: Runtime
}
