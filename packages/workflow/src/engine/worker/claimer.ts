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
  readonly undoSlots: number
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
}

/** Claims ready steps until the queue is empty or the session is full. */
export class Claimer {
  readonly #parts: ClaimerParts
  #queue: QueueState = 'likely'
  #rotation = 0
  /** When undos were last looked for while all slots were taken. */
  #undosSoughtAt = Number.NEGATIVE_INFINITY
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
      if (answer === 'full') return this.#claimUndos(session)
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

  /** All slots are taken, perhaps by handlers that take long: undos go on in those reserved for them. Looks at most once a tick. */
  async #claimUndos({ capacity, intake }: Session): Promise<'lost' | 'done'> {
    const { runtime, tickMs, undoSlots } = this.#parts
    const now = runtime.clock.now()
    const isSought = undoSlots > 0 && capacity.room === 0
    if (!isSought || now < this.#undosSoughtAt + tickMs) return 'done'
    this.#undosSoughtAt = now
    // The definitions whose runs may have undos.
    const undoable = [...this.#parts.definitions].filter(([, { record }]) => hasUndos(record))
    if (undoable.length === 0) return 'done'
    return (await intake.claimUndos(undoable.map(([id]) => id))) === 'lost' ? 'lost' : 'done'
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

/** Whether a run may have something to undo: a compensation, or a child. */
function hasUndos({ shape }: WorkflowDefinition['record']): boolean {
  return shape.steps.some(({ compensate }) => compensate !== 'never')
}
