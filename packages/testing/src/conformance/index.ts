export { type Capabilities, type Conformance, describeAdapter } from './describe.ts'
export { compareAdapters } from './differential/compare.ts'
export { type Harness, memoryHarness } from './harness.ts'
export * from './scenario/index.ts'
