import type { SettledError } from '../cause.ts'

/**
 * How a step ended past whose failure its run goes on, as those that depend on it and the caller of the run see it. Of a failed step the error is
 * that of its last attempt, without stacks: `runs.get()` shows these.
 */
export type Settled<Output> =
  | { readonly status: 'completed'; readonly output: Output }
  | { readonly status: 'failed'; readonly error: SettledError }

/** What happens to the run if a step fails for good. */
export type OnFailure = 'stop' | 'continue'

/** How a step with `onFailure: 'continue'` may end: the cases that a `when` may name, sorted. */
export const OUTCOMES = ['completed', 'failed'] as const

/** The option of a step, or of a wait, that says what its failure means. */
export interface FailingOptions<Failing extends OnFailure = OnFailure> {
  /**
   * What happens if the step fails for good. `stop`, the default: the run stops, and is undone. `continue`: the run goes on, and the steps that
   * depend on this one get `{ status: 'completed', output }` or `{ status: 'failed', error }`. A step may name `completed` or `failed` in its `when`.
   */
  readonly onFailure?: Failing | undefined
}
