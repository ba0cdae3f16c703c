import type { Adapter, Renewed } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Meter } from '../base/meter.ts'
import type { Runtime } from '../base/runtime.ts'
import type { StoreHistory } from '../base/store-history.ts'
import { knownBefore } from './known-attempts.ts'
import type { Crowd } from './peers.ts'
import type { Session } from './session.ts'

/** The delay before a second look confirms a difference found by the first. */
const CONFIRM_MS = 50

export interface LeaseKeeperParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly meter: Meter
  readonly name: string
  readonly host: string | undefined
  readonly concurrency: number
  readonly leaseMs: number
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly crowd: Crowd
  /** The session of the worker's current identity. */
  readonly session: () => Session
  readonly onLost: () => Promise<void>
  /** Fewer workers share the polling than before. */
  readonly onFewer: () => void
  /** A difference between the store and the session must be confirmed. */
  readonly onDifference: () => void
  readonly history: Pick<StoreHistory, 'look' | 'lost'>
}

/** Keeps a worker's lease and checks what it holds: registers, renews, and compares with the store. */
export class LeaseKeeper {
  readonly #parts: LeaseKeeperParts
  #foundDifference = false
  /** What the newest renewal of an identity was told. */
  #renewed: { readonly workerId: string; readonly at: number } | undefined

  constructor(parts: LeaseKeeperParts) {
    this.#parts = parts
  }

  /** How often the lease is renewed. */
  get renewalMs(): number {
    return Math.max(1, Math.floor(this.#parts.leaseMs / 3))
  }

  /**
   * How often the session is compared with the store. Less often while the worker holds nothing: then only a call whose answer was lost can have
   * leased it steps.
   */
  get comparingMs(): number {
    return this.#parts.session().attempts.size > 0 ? this.renewalMs : this.#parts.leaseMs
  }

  /** Whether the newest comparison found something that another one must confirm. */
  get foundDifference(): boolean {
    return this.#foundDifference
  }

  async register({ workerId, lease }: Session): Promise<void> {
    const { adapter, name, host, leaseMs, concurrency: slots, definitions, runtime } = this.#parts
    const sentAt = runtime.clock.now()
    const definitionIds = [...definitions.keys()]
    await adapter.registerWorker({ workerId, name, host, leaseMs, slots, definitionIds })
    lease.extended(sentAt)
  }

  async renew(): Promise<void> {
    const { adapter, leaseMs, runtime, crowd, onLost, onFewer } = this.#parts
    const session = this.#parts.session()
    const { workerId, capacity, attempts } = session
    const sentAt = runtime.clock.now()
    const renewed = await adapter.renew({
      workerId,
      leaseMs,
      busy: capacity.busy,
      known: knownBefore(attempts, sentAt - leaseMs),
    })
    this.#parts.meter.answered()
    if (session !== this.#parts.session()) return
    if (renewed === 'lost') return onLost()
    session.lease.extended(sentAt)
    if (crowd.know(renewed.peers)) onFewer()
    this.#compareHistory(workerId, renewed)
  }

  /** A store that has this worker renewed earlier than it said has gone back. Does not wait for the look at the database: nothing may delay a renewal. */
  #compareHistory(workerId: string, { renewedAt, renewedBefore }: Renewed): void {
    const { history } = this.#parts
    const last = this.#renewed
    this.#renewed = { workerId, at: renewedAt }
    if (last?.workerId === workerId && renewedBefore < last.at)
      history.lost(
        `it had confirmed a renewal of this worker's lease at ${new Date(last.at).toISOString()}, and knew only of one at ${new Date(renewedBefore).toISOString()}`,
      )
    void history.look()
  }

  async compare(): Promise<void> {
    const { runtime, onDifference } = this.#parts
    const open = await this.#parts.session().reconciler.compare()
    this.#foundDifference = open > 0
    if (open > 0) runtime.clock.after(CONFIRM_MS, onDifference)
  }
}
