import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Runtime } from '../base/runtime.ts'
import type { ClaimAnswer } from './intake.ts'
import { nextQueueState, type QueueState } from './queue-outlook.ts'
import type { Session } from './session.ts'

/** The most steps that one claim leases. */
const CLAIM_MAX = 500

export interface ClaimerParts {
  readonly runtime: Runtime
  readonly tickMs: number
  readonly concurrency: number
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
}

/** Claims ready steps until the queue is empty or the session is full. */
export class Claimer {
  readonly #parts: ClaimerParts
  #queue: QueueState = 'likely'
  #rotation = 0
  /** When the claim window was last told that a tick has passed. */
  #tickedAt: number

  constructor(parts: ClaimerParts) {
    this.#parts = parts
    this.#tickedAt = parts.runtime.clock.now()
  }

  /** What the worker expects of the queue. */
  get queue(): QueueState {
    return this.#queue
  }

  /** Steps may have become claimable. */
  hint(): void {
    this.#queue = nextQueueState(this.#queue, 'hint')
  }

  /** Claims for a session while `isCurrent`. Resolves to whether the session's identity is lost. */
  async claim(session: Session, isCurrent: () => boolean): Promise<'lost' | 'done'> {
    this.#tick(session)
    if (this.#parts.definitions.size === 0) return 'done'
    while (isCurrent()) {
      const answer = await this.#claimOnce(session)
      if (answer === 'lost') return 'lost'
      if (answer !== 'more') return 'done'
    }
    return 'done'
  }

  async #claimOnce(session: Session): Promise<ClaimAnswer> {
    this.#queue = nextQueueState(this.#queue, 'claim')
    let answer: ClaimAnswer | undefined
    try {
      answer = await session.intake.claim(this.#nextOrder(), CLAIM_MAX)
      return answer
    } finally {
      this.#queue = nextQueueState(this.#queue, answer === 'empty' ? 'found none' : 'left some')
    }
  }

  #tick(session: Session): void {
    const { runtime, tickMs, concurrency } = this.#parts
    const now = runtime.clock.now()
    if (now < this.#tickedAt + tickMs) return
    this.#tickedAt = now
    session.capacity.window.waited(concurrency)
  }

  /** The definitions in an order that rotates, so that no workflow waits for ever behind the others. */
  #nextOrder(): readonly number[] {
    const ids = [...this.#parts.definitions.keys()]
    this.#rotation = (this.#rotation + 1) % ids.length
    return [...ids.slice(this.#rotation), ...ids.slice(0, this.#rotation)]
  }
}
