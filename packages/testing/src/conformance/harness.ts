import type { Adapter } from '@belay/workflow/adapter'
import { type MemoryAdapter, memory } from '../memory/index.ts'

/** An isolated, migrated and empty store for one test, and its time. How it is isolated is the harness's choice. */
export interface Harness {
  /** Open and ready for use. */
  readonly adapter: Adapter
  /** Moves the store's clock forward by `ms` milliseconds. Nothing else may move it. */
  advance(ms: number): Promise<void>
  /** Runs `work` in a transaction of an application's on this store; commits it, or rolls it back when `work` throws, which it throws on. */
  transaction<Result>(work: (tx: unknown) => Promise<Result>): Promise<Result>
  /** Another adapter on the same store, as a second process would have it; the harness closes it. */
  second?(): Promise<Adapter>
  /** Throws when something does not hold in the store that the port doesn't show. Asked at the end of each case. */
  verify?(): Promise<void>
  close(): Promise<void>
}

/** The reference: a memory store of its own. */
export function memoryHarness(adapter: MemoryAdapter = memory()): Harness {
  return {
    adapter,
    advance: (ms) => adapter.clock.advance(ms),
    transaction: (work) => adapter.transaction(work),
    second: async () => adapter.connect(),
    close: () => adapter.close(),
  }
}
