import type { Adapter, CallerTransaction, Clock, StepTransaction } from '@belay/workflow/adapter'
import type { Dump } from '../invariants/index.ts'
import { type MemoryTransaction, memory } from '../memory/index.ts'
import type { DamageKind } from './damage.ts'
import type { ItemEffect } from './item-effects.ts'

/** A transactional handler's write in its transaction: its effect, and the outcome that must be recorded with it. */
export interface Written {
  readonly runId: string
  readonly step: string
  readonly outcome: 'completed' | 'compensated'
  /** The handler's idempotency key. */
  readonly key: string
  /** Of an undo of all items of a map: what it undoes. Only its process knows. */
  readonly undone?: readonly ItemEffect[] | undefined
}

/** The store of a simulated world: empty, with a clock that the world moves. */
export interface SimulatedStore {
  /** An adapter on the store, for one process. The store closes it. */
  connect(): Adapter
  /** True if a verb takes real time. Then the world stands still until the verb has ended. */
  readonly takesTime: boolean
  /** True if everything waits while a transaction is open. */
  readonly singleSession: boolean
  /** Sets the store's time, in epoch milliseconds. `tx` is the open transaction of the only session, if there is one. */
  setTime(now: number, tx?: unknown): Promise<void>
  /** Everything in the store, to read, without the run that was damaged. A run that has not changed may be the same object as before. */
  dump(): Promise<Dump>
  /** Damages the rows of a run. Called once at most. */
  damage(runId: string, kind: DamageKind): Promise<void>
  /** Writes in a transactional handler's transaction: the write exists once that commits, and never if it is rolled back. */
  write(tx: StepTransaction, written: Written): Promise<void>
  /** All committed writes. */
  written(): Promise<readonly Written[]>
  /** Runs `work` in an application's transaction. Commits it, or rolls it back and rethrows if `work` throws. */
  transaction<Result>(work: (tx: CallerTransaction) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** Creates the store of one world. `clock` is the world's time. */
export type OpenStore = (clock: Clock) => Promise<SimulatedStore>

/** The reference: a store in memory, which answers at once. */
export const memoryStore: OpenStore = async (clock) => {
  const adapter = memory({ clock })
  const committed: Written[] = []
  let damaged: string | undefined
  return {
    connect: () => adapter.connect(),
    takesTime: false,
    singleSession: false,
    // Its clock is the world's.
    async setTime() {},
    async dump() {
      const dump = adapter.look()
      return damaged === undefined
        ? dump
        : { ...dump, runs: dump.runs.filter(({ run }) => run.runId !== damaged) }
    },
    async damage(runId, kind) {
      damaged = runId
      adapter.damage(runId, kind)
    },
    async write(tx, written) {
      const transaction = tx.client as MemoryTransaction
      transaction.onCommit(() => committed.push(written))
    },
    written: async () => committed,
    transaction: (work) => adapter.transaction(work),
    close: () => adapter.close(),
  }
}
