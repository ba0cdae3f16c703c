import type { Adapter, BegunUndo, Claim, Lease, NewRun, StartedRun, UndoPlan } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import type { Attempt, ClaimOrigin } from './attempt.ts'
import { ClaimWindow } from './claim-window.ts'
import { isUnavailable } from './outage.ts'
import { attemptKey, dueUndos } from './outcome-of.ts'

export interface IntakeParts {
  readonly adapter: Adapter
  readonly workerId: string
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  /** How many more steps could be taken on now. */
  readonly room: () => number
  readonly attempts: () => Iterable<Attempt>
  readonly accept: (claims: readonly Claim[], origin: ClaimOrigin) => void
  /** Whether the identity is gone. */
  readonly isLost: () => boolean
  /** Resolves once nothing under way ends attempts or hands out claims, and keeps it so until `resume`. */
  readonly pause: () => Promise<void>
  readonly resume: () => void
}

/** The calls by which a session comes to its work: claims, undos that it begins, runs that its process starts, and what it had lost sight of. */
export class Intake {
  readonly window = new ClaimWindow()
  /** Claims may exist that this session has not heard of: see `adopt`. */
  unsure = false
  /** Room kept for steps that calls under way may lease to this worker. */
  reserved = 0
  readonly #parts: IntakeParts
  /** Calls under way that begin undos or start runs. */
  #leasing = 0
  #adopting = false

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** Whether a call is under way, other than a claim, that may lease it something. */
  get isLeasing(): boolean {
    return this.#leasing > 0
  }

  /** Leases ready steps for as many slots as are free. Tells whether there may be more of them; `full`: they were not asked for. */
  async claim(
    definitionIds: readonly number[],
    limitMax: number,
  ): Promise<'more' | 'full' | 'drained' | 'lost'> {
    const { adapter, workerId, room, accept } = this.#parts
    const limit = Math.min(room(), this.window.room, limitMax)
    if (limit === 0) return 'full'
    this.reserved += limit
    try {
      const claimed = await adapter.claim({ workerId, definitionIds, limit })
      if (claimed === 'lost') return 'lost'
      this.window.claimed(claimed.claims.length)
      accept(claimed.claims, 'queue')
      return claimed.more ? 'more' : 'drained'
    } catch (error) {
      this.unsure = true
      throw error
    } finally {
      this.reserved -= limit
    }
  }

  /** Begins undos, and takes on those that wait for nothing as far as there is room. */
  async beginUndo(plans: readonly UndoPlan[]): Promise<readonly BegunUndo[]> {
    const { adapter, accept } = this.#parts
    return this.#lease(dueUndos(plans), async (lease) => {
      const begun = await adapter.beginUndo(plans, lease)
      for (const { claims = [] } of begun) accept(claims, 'undo begun')
      return begun
    })
  }

  /** Stores new runs, and takes on their first steps as far as there is room. */
  async startRuns(runs: readonly NewRun[]): Promise<readonly StartedRun[]> {
    const { adapter, accept } = this.#parts
    const roots = runs.reduce((sum, run) => sum + this.#rootsOf(run), 0)
    return this.#lease(Math.min(roots, this.window.room), async (lease) => {
      const started = await adapter.startRuns(runs, { lease })
      for (const { claims = [], input } of started) {
        this.window.claimed(claims.length)
        accept(
          claims.map((claim) => ({ ...claim, input })),
          'queue',
        )
      }
      return started
    })
  }

  /**
   * Finds claims whose answer never came, and takes them up. Nothing else may hand out or end claims meanwhile, or an attempt that has just
   * ended would be taken for an unknown one and run again.
   */
  async adopt(): Promise<void> {
    const { adapter, workerId, attempts, accept, isLost, pause, resume } = this.#parts
    this.#adopting = true
    await pause()
    // Transactions may end meanwhile without leasing anything: what they held when the store was asked is known too.
    const known = new Set(attempts())
    try {
      // The answer is a moment away; the next round finds it there.
      if (this.isLeasing) return
      const held = await adapter.held({ workerId })
      this.unsure = false
      // Of a lost identity nothing is taken up or given back any more: the sweep does that, and counts the loss.
      if (isLost()) return
      for (const attempt of attempts()) known.add(attempt)
      const keys = new Set([...known].map((attempt) => attemptKey(attempt.claim)))
      accept(
        held.filter((claim) => !keys.has(attemptKey(claim))),
        'found',
      )
    } finally {
      this.#adopting = false
      resume()
    }
  }

  #rootsOf({ definitionId }: NewRun): number {
    return this.#parts.definitions.get(definitionId)?.graph.roots.length ?? 0
  }

  /** Makes a call that may lease steps to this worker: at most so many, and as many as there is room for. */
  async #lease<Answer>(wanted: number, call: (lease?: Lease) => Promise<Answer>): Promise<Answer> {
    // While claims are being found, new ones are left to the queue: they would be found, and answered, and run twice. And they are found
    // only while no such call is under way.
    if (this.#adopting || this.unsure) return call()
    const handBackMax = Math.min(this.#parts.room(), wanted)
    if (handBackMax === 0) return call()
    this.reserved += handBackMax
    this.#leasing += 1
    try {
      return await call({ workerId: this.#parts.workerId, handBackMax })
    } catch (error) {
      // A refusal is an answer: nothing was leased.
      if (!BelayError.is(error) || isUnavailable(error)) this.unsure = true
      throw error
    } finally {
      this.reserved -= handBackMax
      this.#leasing -= 1
    }
  }
}
