export { MemoryAdapter, memory } from './adapter.ts'
export { BrokenInvariantError } from './change.ts'
export { type MemoryStepTransaction, MemoryTransaction, memoryTransaction } from './transaction.ts'
