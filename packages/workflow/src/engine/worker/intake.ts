import type { Adapter, BegunUndo, Claim, NewRun, StartedRun, UndoPlan } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { ClaimOrigin } from '../attempt/attempt-phase.ts'
import type { Meter } from '../base/meter.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'
import type { Capacity } from './capacity.ts'
import { dueUndos } from './outcome-of.ts'

export interface IntakeParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly meter: Meter
  readonly workerId: string
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly capacity: Capacity
  readonly aside: SetAside
  /** Takes on claims. */
  readonly accept: (claims: readonly Claim[], origin: ClaimOrigin) => void
}

/** The most undos that one claim leases for reserved slots. */
const UNDOS_MAX = 500

const CLAIMING = 'claiming'

/** How a claim was answered. `full`: there was no room, so the store was not asked. */
export type ClaimAnswer = 'more' | 'empty' | 'full' | 'lost'

/** The calls that bring a session its work: claims, undos that it begins, and runs that its process starts. */
export class Intake {
  readonly #parts: IntakeParts

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** Leases ready steps for the free slots, at most `limitMax`. Resolves to whether the queue may hold more. */
  async claim(definitionIds: readonly number[], limitMax: number): Promise<ClaimAnswer> {
    const { workerId, capacity, accept } = this.#parts
    return capacity.leasing(Math.min(capacity.window.room, limitMax), async (limit) => {
      if (limit === 0) return 'full'
      const claimed = await this.#claimed({ workerId, definitionIds, limit })
      if (claimed === 'lost') return 'lost'
      capacity.window.claimed(claimed.claims.length)
      accept(claimed.claims, 'queue')
      return claimed.more ? 'more' : 'empty'
    })
  }

  /** Leases undos from the queue for the slots that only undos take. */
  async claimUndos(definitionIds: readonly number[]): Promise<ClaimAnswer> {
    const { workerId, capacity, accept } = this.#parts
    const call = async (limit: number) => {
      if (limit === 0) return 'full'
      const claimed = await this.#claimed({ workerId, definitionIds, limit, undosOnly: true })
      if (claimed === 'lost') return 'lost'
      capacity.window.claimed(claimed.claims.length)
      accept(claimed.claims, 'queue')
      return 'empty'
    }
    return capacity.leasing(UNDOS_MAX, call, capacity.undosToClaim)
  }

  /** A step that the store cannot lease stays in the queue, and is named. */
  async #claimed(request: Parameters<Adapter['claim']>[0]): ReturnType<Adapter['claim']> {
    const { adapter, aside, runtime, meter } = this.#parts
    const sentAt = runtime.clock.now()
    const claimed = await adapter.claim({
      ...request,
      onRefused: ({ runId, error }) => void aside.refused({ during: CLAIMING, runId }, error),
    })
    meter.claimed(sentAt)
    if (claimed !== 'lost') aside.acceptedRuns(CLAIMING, claimed.claims)
    return claimed
  }

  /** Begins undos, and takes on those that wait for nothing as far as there is room. */
  async beginUndo(plans: readonly UndoPlan[]): Promise<readonly BegunUndo[]> {
    const { adapter, workerId, capacity, accept } = this.#parts
    const begin = async (handBackMax: number) => {
      const lease = handBackMax === 0 ? undefined : { workerId, handBackMax }
      const begun = await adapter.beginUndo(plans, lease)
      for (const { claims = [] } of begun) accept(claims, 'undo begun')
      return begun
    }
    return capacity.leasing(dueUndos(plans), begin, capacity.undoRoom)
  }

  /** Stores new runs, and takes on their first steps as far as there is room. */
  async startRuns(runs: readonly NewRun[]): Promise<readonly StartedRun[]> {
    const { adapter, workerId, capacity, accept } = this.#parts
    const roots = runs.reduce((sum, run) => sum + this.#rootsOf(run), 0)
    return capacity.leasing(Math.min(roots, capacity.window.room), async (handBackMax) => {
      if (handBackMax === 0) return adapter.startRuns(runs)
      const started = await adapter.startRuns(runs, { lease: { workerId, handBackMax } })
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
}
