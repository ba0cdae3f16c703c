import type { Claim } from '../../adapter/index.ts'
import type { StepContext } from '../../definition/handler.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { Child, Wait } from '../../definition/wait.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { type ChildState, decideChild, decideChildUndo } from '../decisions/decide-child.ts'
import { decideWait, type WaitStep } from '../decisions/decide-wait.ts'
import type { AttemptPayloads } from './attempt-payloads.ts'

/** What attempts of steps that have a child ask for. */
export interface ChildRuns {
  /** Starts the child unless it is there, and looks at it. */
  follow(step: StepWithChild, context: StepContext): Promise<ChildState>
  /** Cancels the child, or undoes it if it has completed. `over`: nothing of it is left to undo. */
  undo(step: StepWithChild, context: StepContext): Promise<'open' | 'over'>
}

/** The attempt of a step that has a child. */
export interface StepWithChild {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  readonly wait: Child
}

/** What an attempt needs for waits. */
export interface WaitParts {
  readonly children: ChildRuns
}

/** How a step that waits continues. */
export function nextLook(
  attempt: Omit<StepWithChild, 'wait'>,
  wait: Wait,
  payloads: AttemptPayloads,
  children: ChildRuns,
): WaitStep {
  if (wait.kind === 'child') return lookAtChild(attempt, wait, children)
  const { own, stored } = payloads
  const { claim, step } = attempt
  return decideWait({ runId: claim.runId, step }, wait, { ...own, now: stored.now })
}

/** The call that looks at the child of a step, and what follows from its answer; in an undo, the call that undoes the child. */
function lookAtChild(
  { claim, definition, step }: Omit<StepWithChild, 'wait'>,
  wait: Child,
  children: ChildRuns,
): Extract<WaitStep, { type: 'call' }> {
  const parent = { claim, definition, step, wait }
  if (claim.direction === 'undo') {
    const handler = (context: StepContext) => children.undo(parent, context)
    return { type: 'call', handler, judge: (child) => decideChildUndo(child as 'open' | 'over') }
  }
  const handler = (context: StepContext) => children.follow(parent, context)
  const where = { runId: claim.runId, step }
  return { type: 'call', handler, judge: (child) => decideChild(where, child as ChildState) }
}
