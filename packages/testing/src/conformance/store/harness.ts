import type { Store } from '@belay/workflow/store'

/** How the cases get a store. */
export interface StoreHarness {
  readonly name: string
  /** An empty, migrated, opened store. */
  open(): Promise<OpenedStore>
}

export interface OpenedStore {
  readonly store: Store
  /** The store’s clock moves on by so many milliseconds. */
  advance(ms: number): Promise<void>
  /** A caller’s transaction: it commits when `work` resolves, and rolls back when it rejects. */
  transaction<Result>(work: (tx: unknown) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}
