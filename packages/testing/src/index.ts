export * from './clock/index.ts'
export * from './invariants/index.ts'
export * from './memory/index.ts'
export * from './workflow/index.ts'
