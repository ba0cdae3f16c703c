import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Logger } from '../../logger.ts'
import type { RunTraceparents } from './run-traceparents.ts'
import type { Runtime } from './runtime.ts'

/** The engine options that calls with payloads need. */
export interface CallSettings {
  readonly workflows: readonly WorkflowDefinition[]
  readonly payloadMaxBytes: number
  readonly log: Logger
  readonly runtime: Runtime
  /** The trace context of whoever calls; undefined without tracing. Never throws. */
  readonly traceparent?: (() => string | undefined) | undefined
  /** Only if the handlers of this process have hooks. */
  readonly traceparents?: RunTraceparents | undefined
}
