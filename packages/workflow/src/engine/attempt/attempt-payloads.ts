import { type Claim, movesBefore, type RunPayloads, type StepPayloads } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { ForwardPayloads, PayloadCache } from '../base/payload-cache.ts'
import type { Runtime } from '../base/runtime.ts'
import { owesUndo } from '../decisions/plan-undo.ts'
import { runIsGone } from './attempt-errors.ts'

export interface AttemptPayloadsParts {
  readonly runtime: Runtime
  readonly payloads: PayloadCache
}

/** Of which attempt, and how this worker came by it. */
interface Subject {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  readonly origin: string
}

/** What the handler of one attempt is called with: its run's input, outputs of other steps and, where it matters, its own row. */
export class AttemptPayloads {
  readonly #subject: Subject
  readonly #parts: AttemptPayloadsParts
  #forward: ForwardPayloads | undefined
  /** Read only where the step's own row matters: in an undo, a wait, and a retry that has a window. */
  #stored: RunPayloads | undefined
  #storedAt = 0

  constructor(subject: Subject, parts: AttemptPayloadsParts) {
    this.#subject = subject
    this.#parts = parts
  }

  /** The run's input and the outputs of the dependencies, once prepared. */
  get forward(): ForwardPayloads {
    return this.#forward!
  }

  /** The run as it was read, once prepared, where the step's own row matters. */
  get stored(): RunPayloads {
    return this.#stored!
  }

  /** The step's own row, as {@link stored}. */
  get own(): StepPayloads {
    return this.stored.steps.find(({ step }) => step === this.#subject.claim.step)!
  }

  /** Finds them. A promise when they must be read; it rejects when that fails, or with `unknown_run`. */
  prepare(): Promise<void> | undefined {
    const { claim, definition, step } = this.#subject
    const dependencies = definition.graph.dependencies[claim.step]!
    if (claim.direction === 'undo') {
      if (!this.#needsRowForUndo || this.#knowsForUndo(dependencies)) return undefined
      return this.#readWithOwn(dependencies)
    }
    const hasWindow = claim.failures > 0 && step.retry.forMs !== null
    if (step.wait !== null || hasWindow) return this.#readWithOwn(dependencies)
    // A step that was sent on its way again, perhaps by another process, must not see what this one remembers of before.
    if (movesBefore(claim) > 0) return this.#readForward(dependencies)
    this.#forward = this.#parts.payloads.known(claim.runId, dependencies)
    return this.#forward === undefined ? this.#readForward(dependencies) : undefined
  }

  /** How long ago the first attempt of this series of failures began, when this attempt began at `startedAt`. */
  failingMs(startedAt: number): number {
    const now = this.#parts.runtime.clock.now()
    const since = this.#stored === undefined ? null : this.own.failingSince
    if (this.#subject.claim.failures === 0 || since === null) return now - startedAt
    return this.#stored!.now - since + (now - this.#storedAt)
  }

  /** Whether there is something to undo, or the step only keeps the undo's order. */
  get owesUndo(): boolean {
    const { claim, definition } = this.#subject
    const { compensate } = definition.record.shape.steps[claim.step]!
    const succeeded = this.#stored !== undefined && this.own.succeeded
    // Only started steps are ever planned under 'started', so that need not be asked again.
    return owesUndo({ status: claim.undoOf ?? 'completed', started: true, succeeded }, compensate)
  }

  /** Whether its undo is only to keep the order is known without its row, but for a step whose effect may be there all the same. */
  get #needsRowForUndo(): boolean {
    if (this.owesUndo) return true
    const { step, claim } = this.#subject
    return step.compensation !== null && claim.undoOf !== 'completed'
  }

  async #readForward(dependencies: readonly number[]): Promise<void> {
    const { claim } = this.#subject
    this.#forward = await this.#parts.payloads.read(claim.runId, dependencies)
    if (this.#forward === undefined) throw runIsGone(claim)
  }

  /**
   * Everything the undo of a completed step is called with is at hand where one worker ran all of its run. A run may have been sent forward
   * again since, and stopped by another cause: so the first undo that this worker gets of a run reads, and only those that a settlement
   * hands it next, of steps that ran once, may not.
   */
  #knowsForUndo(dependencies: readonly number[]): boolean {
    const { claim, origin } = this.#subject
    const { runId, step, undoOf } = claim
    const { payloads } = this.#parts
    const current = origin === 'handed back' && undoOf === 'completed' && movesBefore(claim) === 1
    const cause = current ? payloads.knownCause(runId) : undefined
    const known = cause === undefined ? undefined : payloads.known(runId, [...dependencies, step])
    if (cause === undefined || known === undefined) return false
    const output = known.outputs.at(-1) ?? null
    const now = this.#parts.runtime.clock.now()
    this.#stored = { runId, input: known.input, cause, now, steps: [{ ...UNREAD, step, output }] }
    this.#forward = { input: known.input, outputs: known.outputs.slice(0, -1) }
    return true
  }

  async #readWithOwn(dependencies: readonly number[]): Promise<void> {
    const { claim } = this.#subject
    const { runId, step } = claim
    const stored = await this.#parts.payloads.load({ runId, steps: [...dependencies, step] })
    if (stored === undefined) throw runIsGone(claim)
    const byStep = new Map(stored.steps.map((found) => [found.step, found.output]))
    this.#parts.payloads.rememberCause(runId, stored.cause)
    this.#stored = stored
    this.#storedAt = this.#parts.runtime.clock.now()
    this.#forward = {
      input: stored.input,
      outputs: dependencies.map((dependency) => byStep.get(dependency) ?? null),
    }
  }
}

/** What an undo is not called with. */
const UNREAD = {
  error: null,
  availableAt: null,
  waitingSince: null,
  signalledAt: null,
  failingSince: null,
  succeeded: false,
}
