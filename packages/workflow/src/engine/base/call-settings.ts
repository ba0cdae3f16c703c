import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Runtime } from './runtime.ts'

/** What the calls that write payloads need to know of the engine's options. */
export interface CallSettings {
  readonly workflows: readonly WorkflowDefinition[]
  readonly payloadMaxBytes: number
  readonly runtime: Runtime
}
