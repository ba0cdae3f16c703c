import type { Adapter, CallerTransaction } from '@belay/workflow/adapter'
import { type MemoryAdapter, memory } from '../memory/index.ts'

/** An isolated, migrated and empty store for one test, and its time. Each harness chooses how to isolate it. */
export interface Harness {
  /** Open and ready for use. */
  readonly adapter: Adapter
  /** Moves the store's clock forward by `ms` milliseconds. Nothing else may move it. */
  advance(ms: number): Promise<void>
  /** Runs `work` in an application's transaction on this store. Commits it, or rolls it back and rethrows if `work` throws. */
  transaction<Result>(work: (tx: CallerTransaction) => Promise<Result>): Promise<Result>
  /** Another adapter on the same store, like that of a second process. The harness closes it. */
  second?(): Promise<Adapter>
  /** Throws if an invariant is broken that the port doesn't show. Called at the end of each case. */
  verify?(): Promise<void>
  close(): Promise<void>
}

/** The reference: a harness on a memory store of its own. */
export function memoryHarness(adapter: MemoryAdapter = memory()): Harness {
  return {
    adapter,
    advance: (ms) => adapter.clock.advance(ms),
    transaction: (work) => adapter.transaction(work),
    second: async () => adapter.connect(),
    close: () => adapter.close(),
  }
}
