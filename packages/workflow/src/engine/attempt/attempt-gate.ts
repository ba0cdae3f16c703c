import type { Claim } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { BranchStep } from '../decisions/decide-branch.ts'
import type { AttemptPayloads } from './attempt-payloads.ts'
import { type EnterStep, enterStep } from './enter-limits.ts'

/** The attempt behind the gate. */
interface Gated {
  readonly claim: Claim
  /** Of an item, with its name once its row was read. */
  readonly step: StepDefinition
}

/** Undefined for a step that runs without a condition and without limits, and in an undo. */
export function gateOf(attempt: Gated, payloads: AttemptPayloads): AttemptGate | undefined {
  const { claim, step } = attempt
  if (claim.direction === 'undo' || (step.branch === null && step.limits === null)) return undefined
  return new AttemptGate(attempt, payloads)
}

/** What stands between an attempt and its handler: whether the step runs, and the limits that it enters. Each is recorded before the next. */
export class AttemptGate {
  readonly #attempt: Gated
  readonly #payloads: AttemptPayloads
  /** What follows for a step that may be skipped; undefined until the attempt looks. */
  #branch: BranchStep | undefined
  /** It has its slots of all limits. */
  #hasEntered = false

  constructor(attempt: Gated, payloads: AttemptPayloads) {
    this.#attempt = attempt
    this.#payloads = payloads
  }

  /** Set if the step is skipped without asking its own function. */
  get skip(): Extract<BranchStep, { type: 'skipped' }> | undefined {
    const branch = this.#branchStep()
    return branch?.type === 'skipped' ? branch : undefined
  }

  /** What comes before the handler; undefined if nothing does. */
  next(): Extract<BranchStep, { type: 'call' }> | EnterStep | undefined {
    const branch = this.#branchStep()
    if (branch?.type === 'call') return branch
    const { limits } = this.#attempt.step
    return limits === null || this.#hasEntered ? undefined : enterStep(this.#attempt, limits)
  }

  /** Whether nothing is left before the handler. A decision, or slots, are recorded on their own, before a transaction begins. */
  get isOpen(): boolean {
    const { branch, limits } = this.#attempt.step
    if (limits !== null && !this.#hasEntered) return false
    return branch === null || this.#branchStep()?.type === 'runs'
  }

  /** It is recorded. */
  passed(what: 'decided' | 'enters'): void {
    if (what === 'decided') this.#branch = { type: 'runs' }
    else this.#hasEntered = true
  }

  /** Undefined for a step that always runs. */
  #branchStep(): BranchStep | undefined {
    const { branch } = this.#attempt.step
    if (branch === null) return undefined
    this.#branch ??= this.#payloads.branch(branch)
    return this.#branch
  }
}
