export { MemoryAdapter, memory } from './adapter.ts'
export { BrokenInvariantError } from './change.ts'
