import { RUNS, type SkipReason, skipOf } from '../../adapter/branch.ts'
import type { JsonText } from '../../adapter/records.ts'
import type { Handler } from '../../definition/handler.ts'
import type { Settled } from '../../definition/settled.ts'
import type { BranchPolicy } from '../../definition/step.ts'
import { PermanentError } from '../../handler-errors.ts'
import { shown } from '../../shown.ts'
import { fromJsonText } from '../base/payload.ts'

/** What an attempt knows before it decides whether its step runs. Steps are named by number. */
export interface BranchRow {
  /** The step's own branch. */
  readonly own: JsonText
  readonly nameOf: (step: number) => string
  readonly branchOf: (dependency: number) => JsonText
  /** Of a step past whose failure the run continues, the text of a `Settled`. */
  readonly outputOf: (dependency: number) => JsonText
}

/** What follows for a step that may be skipped. */
export type BranchStep =
  | { readonly type: 'runs' }
  | { readonly type: 'skipped'; readonly reason: SkipReason }
  /** The step's function must be called, and `judge` interprets what it returned. */
  | {
      readonly type: 'call'
      readonly asks: 'when'
      readonly handler: Handler
      readonly judge: (answer: unknown) => BranchEnd
    }

/** The answer of a step's function. It must be recorded before anything else happens. */
export type BranchEnd =
  | { readonly type: 'decided'; readonly branch: string }
  | { readonly type: 'skipped'; readonly reason: SkipReason }

const STEP_RUNS: BranchStep = { type: 'runs' }

/** Decides whether a step runs: a pure function of its definition and of rows that do not change any more in this round. */
export function decideBranch(subject: Subject, policy: BranchPolicy, row: BranchRow): BranchStep {
  // Recorded by an earlier attempt of this round: a retry never asks again.
  if (row.own !== null) {
    const reason = skipOf(row.own)
    return reason === undefined ? STEP_RUNS : { type: 'skipped', reason }
  }
  for (const dependency of policy.skippedWith) {
    if (skipOf(row.branchOf(dependency)) === undefined) continue
    return { type: 'skipped', reason: { because: 'dependency', dependency: row.nameOf(dependency) } }
  }
  for (const { step, cases, ofOutcome } of policy.cases) {
    if (ofOutcome) {
      const { status } = fromJsonText(row.outputOf(step)) as Settled<unknown>
      if (cases.includes(status)) continue
      const reason = { because: 'outcome', dependency: row.nameOf(step), outcome: status } as const
      return { type: 'skipped', reason }
    }
    const chosen = fromJsonText(row.outputOf(step))
    if (typeof chosen === 'string' && cases.includes(chosen)) continue
    // An operator who skipped the choice may have given it any output.
    const told = typeof chosen === 'string' ? chosen : shown(chosen)
    return { type: 'skipped', reason: { because: 'case', choice: row.nameOf(step), case: told } }
  }
  const { when } = policy
  if (when == null) return STEP_RUNS
  // Nothing of the context that is for effects.
  const handler: Handler = ({ runId, step, input, deps }) => when({ runId, step, input, deps })
  return { type: 'call', asks: 'when', handler, judge: judgeWhen(subject) }
}

/** The attempt that a decision is for. */
interface Subject {
  readonly claim: { readonly runId: string }
  readonly step: { readonly name: string }
}

/** @throws PermanentError unless the answer is true or false: a retry would not help. */
function judgeWhen({ claim, step }: Subject): (answer: unknown) => BranchEnd {
  return (answer) => {
    if (answer === true) return { type: 'decided', branch: RUNS }
    if (answer === false) return { type: 'skipped', reason: { because: 'when' } }
    throw new PermanentError(
      `What when of step "${step.name}" of run ${claim.runId} returned is ${shown(answer)}, and must be true or false.`,
    )
  }
}

/** Accepts what the handler of a choice returned. It throws a PermanentError unless that is one of the cases. */
export function judgeCase(
  { claim, step }: Subject,
  cases: readonly string[],
): (answer: unknown) => { readonly type: 'output'; readonly value: string } {
  return (answer) => {
    if (typeof answer === 'string' && cases.includes(answer)) return { type: 'output', value: answer }
    throw new PermanentError(
      `What on of step "${step.name}" of run ${claim.runId} returned is ${shown(answer)}, and must be one of its cases: ${cases.join(', ')}.`,
    )
  }
}
