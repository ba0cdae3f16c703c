import type { RunStatus } from '../../adapter/lifecycle.ts'
import { limitReached, type RunCause, type SerialisedError } from '../../cause.ts'
import type { StepDefinition } from '../../definition/step.ts'
import { sentence } from '../../words.ts'
import { attemptError, withoutStack } from '../base/stack-frames.ts'
import type { WaitAnswer } from './decide-wait.ts'

/** How the child of a step is. */
export type ChildState =
  /** It has not ended, or an operator must repair its undo. */
  | { readonly type: 'open' }
  /** Nobody waits for it. */
  | { readonly type: 'detached'; readonly runId: string }
  | { readonly type: 'completed'; readonly outputs: Readonly<Record<string, unknown>> }
  | {
      readonly type: 'failed'
      readonly runId: string
      readonly workflow: string
      readonly status: RunStatus
      readonly cause: RunCause | undefined
    }

/** What is left to undo of a step's child. */
export type ChildUndo = 'open' | 'over' | 'kept'

/** Decides how a step continues whose child was looked at. A child that has not ended wakes its step when it ends. */
export function decideChild(
  { runId, step }: { readonly runId: string; readonly step: Pick<StepDefinition, 'name'> },
  child: ChildState,
): WaitAnswer {
  switch (child.type) {
    case 'open':
      return { type: 'waits', wake: null }
    case 'detached':
      return { type: 'output', value: { runId: child.runId } }
    case 'completed':
      return { type: 'output', value: child.outputs }
    case 'failed': {
      const who = `Step "${step.name}" of run ${runId} failed because its child, run ${child.runId} of "${child.workflow}",`
      const cause = errorOf(child.cause)
      const why = cause === undefined ? '' : `: ${cause.message}`
      const error = attemptError('child_failed', sentence(`${who} ended as ${child.status}${why}`), {
        runId,
        step: step.name,
        cause,
      })
      return { type: 'threw', error }
    }
  }
}

/** How long an undo waits for its child before it looks again. The child's end makes it look at once. */
const CHILD_UNDO_LOOK_MS = 60_000

/** Decides how the undo of a step continues whose child was looked at. */
export function decideChildUndo(child: ChildUndo): WaitAnswer {
  switch (child) {
    case 'open':
      return { type: 'waits', wake: { afterMs: CHILD_UNDO_LOOK_MS } }
    case 'over':
      return { type: 'output', value: undefined }
    // The step stays as it was: nothing of it was undone, so a retry finds the same child.
    case 'kept':
      return { type: 'relay' }
  }
}

function errorOf(cause: RunCause | undefined): Error | undefined {
  switch (cause?.type) {
    case 'step_failed':
      return Object.assign(
        stackless(`step "${cause.step}" failed: ${cause.error.message}`),
        named(cause.error),
      )
    case 'cancelled':
      return stackless(cause.reason === undefined ? 'it was cancelled' : `it was cancelled: ${cause.reason}`)
    case 'deadline':
      return stackless(`it had not ended by its deadline, ${cause.deadlineAt}`)
    case 'limit_reached':
      return stackless(`it was cancelled: ${limitReached(cause)}`)
    case undefined:
      return undefined
  }
}

/** What ended the child was raised in its own run: the stack of this place says nothing. */
function stackless(message: string): Error {
  return withoutStack(new Error(message))
}

function named({ name, code, cause }: SerialisedError): object {
  return { name, ...(code === undefined ? {} : { code }), ...(cause === undefined ? {} : { cause }) }
}
