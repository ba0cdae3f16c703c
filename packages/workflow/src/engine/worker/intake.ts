import type { Adapter, BegunUndo, Claim, NewRun, StartedRun, UndoPlan } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { ClaimOrigin } from '../attempt/attempt.ts'
import { isAnswered } from '../base/outage.ts'
import type { Capacity, Reservation } from './capacity.ts'
import { dueUndos } from './outcome-of.ts'

export interface IntakeParts {
  readonly adapter: Adapter
  readonly workerId: string
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly capacity: Capacity
  readonly accept: (claims: readonly Claim[], origin: ClaimOrigin) => void
  /** A call was not answered: it may have leased steps that the session has not heard of. */
  readonly onUnsure: () => void
}

/** The calls by which a session comes to its work: claims, undos that it begins, and runs that its process starts. */
export class Intake {
  readonly #parts: IntakeParts

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** Leases ready steps for as many slots as are free. Tells whether there may be more of them; `full`: they were not asked for. */
  async claim(
    definitionIds: readonly number[],
    limitMax: number,
  ): Promise<'more' | 'full' | 'drained' | 'lost'> {
    const { adapter, workerId, capacity, accept } = this.#parts
    const room = capacity.reserve(Math.min(capacity.window.room, limitMax))
    if (room.max === 0) return 'full'
    return this.#calling(room, async () => {
      const claimed = await adapter.claim({ workerId, definitionIds, limit: room.max })
      if (claimed === 'lost') return 'lost'
      capacity.window.claimed(claimed.claims.length)
      accept(claimed.claims, 'queue')
      return claimed.more ? 'more' : 'drained'
    })
  }

  /** Begins undos, and takes on those that wait for nothing as far as there is room. */
  async beginUndo(plans: readonly UndoPlan[]): Promise<readonly BegunUndo[]> {
    const { adapter, workerId, capacity, accept } = this.#parts
    const room = capacity.reserve(dueUndos(plans))
    return this.#calling(room, async () => {
      const lease = room.max === 0 ? undefined : { workerId, handBackMax: room.max }
      const begun = await adapter.beginUndo(plans, lease)
      for (const { claims = [] } of begun) accept(claims, 'undo begun')
      return begun
    })
  }

  /** Stores new runs, and takes on their first steps as far as there is room. */
  async startRuns(runs: readonly NewRun[]): Promise<readonly StartedRun[]> {
    const { adapter, workerId, capacity, accept } = this.#parts
    const roots = runs.reduce((sum, run) => sum + this.#rootsOf(run), 0)
    const room = capacity.reserve(Math.min(roots, capacity.window.room))
    return this.#calling(room, async () => {
      if (room.max === 0) return adapter.startRuns(runs)
      const started = await adapter.startRuns(runs, { lease: { workerId, handBackMax: room.max } })
      for (const { claims = [], input } of started) {
        capacity.window.claimed(claims.length)
        accept(
          claims.map((claim) => ({ ...claim, input })),
          'queue',
        )
      }
      return started
    })
  }

  #rootsOf({ definitionId }: NewRun): number {
    return this.#parts.definitions.get(definitionId)?.graph.roots.length ?? 0
  }

  async #calling<Answer>(room: Reservation, call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call()
    } catch (error) {
      if (room.max > 0 && !isAnswered(error)) this.#parts.onUnsure()
      throw error
    } finally {
      room.end()
    }
  }
}
