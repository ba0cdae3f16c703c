export type { HandlerCall } from './script.ts'
export type { LimitOptions, SharedTestOptions, TestArguments, TestOptions } from './test-options.ts'
export type { CrashOptions, FailOptions, Stub, StubOutput, TestedStep } from './tested-steps.ts'
export { testWorkflow, type WorkflowTest } from './workflow-test.ts'
