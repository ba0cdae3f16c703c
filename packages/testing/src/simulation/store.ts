import type { Adapter, Clock, StepTransaction } from '@belay/workflow/adapter'
import type { Dump } from '../invariants/index.ts'
import { type MemoryTransaction, memory } from '../memory/index.ts'

/** What a transactional handler wrote in its transaction: its effect, and the outcome that must be recorded with it. */
export interface Written {
  readonly runId: string
  readonly step: string
  readonly outcome: 'completed' | 'compensated'
  /** The idempotency key that its handler was given. */
  readonly key: string
}

/** A store that a simulated world runs on: empty, and with a clock that the world moves. */
export interface SimulatedStore {
  /** An adapter on it, for one process. The store closes it. */
  connect(): Adapter
  /** True where a verb takes real time: the world then stands still until the verb has ended. */
  readonly takesTime: boolean
  /** True where everything waits while a transaction is open. */
  readonly singleSession: boolean
  /** From now on this is the store's time, epoch milliseconds. `tx` is what is open in the only session, if anything is. */
  setTime(now: number, tx?: unknown): Promise<void>
  /** A copy of everything it holds. */
  dump(): Promise<Dump>
  /** Writes in a transactional handler's transaction: it is there once that commits, and never when it is rolled back. */
  write(tx: StepTransaction, written: Written): Promise<void>
  /** All that was written and committed. */
  written(): Promise<readonly Written[]>
  /** Runs `work` in a transaction of an application's; commits it, or rolls it back when `work` throws, which it throws on. */
  transaction<Result>(work: (tx: unknown) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** Makes the store of one world. `clock` is the world's time. */
export type OpenStore = (clock: Clock) => Promise<SimulatedStore>

/** The reference: a store in memory, which answers at once. */
export const memoryStore: OpenStore = async (clock) => {
  const adapter = memory({ clock })
  const committed: Written[] = []
  return {
    connect: () => adapter.connect(),
    takesTime: false,
    singleSession: false,
    // Its clock is the world's.
    async setTime() {},
    dump: async () => adapter.dump(),
    async write(tx, written) {
      const transaction = tx.client as MemoryTransaction
      transaction.onCommit(() => committed.push(written))
    },
    written: async () => committed,
    transaction: (work) => adapter.transaction(work),
    close: () => adapter.close(),
  }
}
