export * from './clock/index.ts'
export type * from './invariants/dump.ts'
export * from './memory/index.ts'
