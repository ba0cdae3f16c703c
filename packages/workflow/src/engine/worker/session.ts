import type { Claim, Settlement } from '../../adapter/index.ts'
import { Attempts, type AttemptsParts } from './attempts.ts'
import { Capacity } from './capacity.ts'
import { Intake } from './intake.ts'
import { Lease } from './lease.ts'
import type { Told } from './outcome-of.ts'
import { Reconciler } from './reconciler.ts'

/** What a session reports to its worker. */
export interface SessionEvents {
  /** The store recorded outcomes. */
  readonly onSettled: (settlement: Settlement, told: Told) => void
  /** An attempt of a stopping run has ended: its undo may be due. */
  readonly onStoppingRunMoved: (runId: string) => void
  /** The store has a new value of this run. */
  readonly onPublished: (runId: string) => void
  /** A slot is free, or an outcome was recorded. */
  readonly onRoom: () => void
  /** The store may have leased steps to this session that it does not know. */
  readonly onDoubt: () => void
  /** A handler waits until the store confirms the lease. */
  readonly onLeaseDoubted: () => void
}

export interface SessionParts
  extends Omit<AttemptsParts, 'capacity' | 'lease' | 'onBegin' | keyof SessionEvents>,
    SessionEvents {
  readonly leaseMs: number
}

/**
 * All that belongs to one worker identity. A claim's way leads through its members in this order: `capacity` has room, `intake` leases steps,
 * `attempts` performs them and records their outcomes. Beside that way, `lease` tells whether handlers may begin, and `reconciler` finds
 * differences from the store. When the identity is lost, the session ends with it and the worker opens another: each attempt is settled under the
 * identity it was claimed by.
 *
 * Its states: open, until {@link leave} or {@link lose}; then closed, until the last attempt is recorded or {@link abandon} gives them up.
 */
export class Session {
  readonly workerId: string
  readonly capacity: Capacity
  readonly lease: Lease
  readonly attempts: Attempts
  readonly intake: Intake
  readonly reconciler: Reconciler

  constructor(parts: SessionParts) {
    this.workerId = parts.workerId
    const { concurrency, undoSlots, onRoom, onDoubt } = parts
    const { clock } = parts.runtime
    this.capacity = new Capacity({
      ...{ clock, concurrency, undoSlots, onRoom, onDoubt },
      unsent: () => this.attempts.unsent,
    })
    this.lease = new Lease(clock, parts.leaseMs, parts.onLeaseDoubted)
    const { capacity, lease } = this
    const onBegin = (claim: Claim) => this.reconciler.began(claim)
    this.attempts = new Attempts({ ...parts, capacity, lease, onBegin })
    const { attempts } = this
    this.intake = new Intake({
      ...parts,
      capacity,
      accept: (claims, origin) => attempts.accept(claims, origin),
    })
    this.reconciler = new Reconciler({
      ...parts,
      capacity,
      attempts,
      canRun: ({ definitionId }) => parts.definitions.has(definitionId),
    })
  }

  /** Whether it holds nothing, and no call is under way that may lease it something. */
  get isEmpty(): boolean {
    return this.attempts.size === 0 && !this.capacity.isLeasing
  }

  /** Takes on nothing new, and gives up what has not begun. */
  leave(): void {
    this.capacity.close()
    this.attempts.giveUpQueued()
  }

  /** Gives back every step whose handler still runs. */
  release(): void {
    this.attempts.release()
    this.lease.end()
  }

  /** The identity is lost: signals every handler. Returns the number of attempts lost. */
  lose(): number {
    this.capacity.close()
    this.attempts.lose()
    this.lease.end()
    return this.attempts.size
  }

  /** Stops trying to reach the store: outcomes that are not recorded by now are left to the lease's end. */
  abandon(): void {
    this.attempts.abandon()
  }
}
