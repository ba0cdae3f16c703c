import type { Claim } from '../../adapter/index.ts'
import type { SerialisedError } from '../../cause.ts'
import type { StepContext } from '../../definition/handler.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { Child, Wait } from '../../definition/wait.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { fromJsonText } from '../base/payload.ts'
import type { Runtime } from '../base/runtime.ts'
import { type ChildState, type ChildUndo, decideChild, decideChildUndo } from '../decisions/decide-child.ts'
import { decideWait, type WaitStep } from '../decisions/decide-wait.ts'
import type { AttemptPayloads } from './attempt-payloads.ts'
import { childRound } from './rounds.ts'

/** What attempts of steps that have a child ask for. */
export interface ChildRuns {
  /** Starts the child unless it is there, and looks at it. */
  follow(step: StepWithChild, context: StepContext): Promise<ChildState>
  /** Cancels the child, or undoes it if it has completed. `over`: nothing of it is left to undo. `kept`: it has completed, and keeps its effects. */
  undo(step: StepWithChild, context: StepContext): Promise<ChildUndo>
}

/** The attempt of a step that has a child. */
export interface StepWithChild {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  readonly wait: Child
  /** The step failed with its child, and an operator lets it run again. */
  readonly retried: boolean
  /** No attempt has begun in the step's row: a child that is there is of an earlier row, which the step that decides the items replaced. */
  readonly isFirst: boolean
}

/** What an attempt needs for waits. */
export interface WaitParts {
  readonly children: ChildRuns
  readonly runtime: Runtime
}

/** How a step that waits continues. */
export function nextLook(
  attempt: Omit<StepWithChild, 'wait' | 'retried' | 'isFirst'>,
  wait: Wait,
  payloads: AttemptPayloads,
  { children, runtime }: WaitParts,
): WaitStep {
  const { claim, definition, step } = attempt
  if (wait.kind === 'child') {
    // The row of an item or a round is not read for its first attempt.
    const retried = payloads.isOwnRead && failedWithChild(payloads.own)
    const isFirst = claim.attempt === 1 && !(payloads.isOwnRead && payloads.own.waitingSince !== null)
    const look = lookAtChild({ claim, definition, step, wait, retried, isFirst }, children)
    const isRound = step.map?.part === 'round' && claim.direction === 'forward'
    return isRound ? childRound(attempt, step.map, look, runtime.clock) : look
  }
  const { own, stored } = payloads
  return decideWait({ runId: claim.runId, step }, wait, { ...own, now: stored.now })
}

/** Whether the error in the row of a step that has not begun to wait is that of its child: nobody but an operator lets such a step run again. */
function failedWithChild({ waitingSince, error }: AttemptPayloads['own']): boolean {
  if (waitingSince !== null || error === null) return false
  return (fromJsonText(error) as SerialisedError).code === 'child_failed'
}

/** The call that looks at the child of a step, and what follows from its answer; in an undo, the call that undoes the child. */
function lookAtChild(parent: StepWithChild, children: ChildRuns): Extract<WaitStep, { type: 'call' }> {
  const { claim, step } = parent
  if (claim.direction === 'undo') {
    const handler = (context: StepContext) => children.undo(parent, context)
    return { type: 'call', handler, judge: (child) => decideChildUndo(child as ChildUndo) }
  }
  const handler = (context: StepContext) => children.follow(parent, context)
  const where = { runId: claim.runId, step }
  return { type: 'call', handler, judge: (child) => decideChild(where, child as ChildState) }
}
