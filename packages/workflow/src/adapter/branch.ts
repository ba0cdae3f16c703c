import type { JsonText } from './records.ts'

/**
 * Whether a step runs, as its definition decided in this run. A step's row keeps it as JSON text, and stores do not read it. An operator who skips a
 * step decides nothing: such a step has no branch, and its dependents run.
 */
export type Branch = { readonly runs: true } | SkippedBranch

/** The step is skipped, and so are its dependents unless they run `onSkipped`. */
export type SkippedBranch = { readonly runs: false } & SkipReason

/**
 * Why a step is skipped: its `when` returned false, a choice has another case, a dependency ended in another way, or was skipped, or a limit had no
 * slot for this key. Steps are named.
 */
export type SkipReason =
  | { readonly because: 'when' }
  | { readonly because: 'case'; readonly choice: string; readonly case: string }
  | { readonly because: 'outcome'; readonly dependency: string; readonly outcome: 'completed' | 'failed' }
  | { readonly because: 'dependency'; readonly dependency: string }
  | { readonly because: 'limit'; readonly limit: string; readonly key: string }

/** The stored text of a `when` that returned true. */
export const RUNS = JSON.stringify({ runs: true } satisfies Branch)

/** The stored text of a skip. */
export function skipText(reason: SkipReason): string {
  return JSON.stringify({ runs: false, ...reason } satisfies SkippedBranch)
}

/** Why the definition skipped a step with this branch; undefined if it did not. */
export function skipOf(branch: JsonText): SkipReason | undefined {
  if (branch === null) return undefined
  const { runs, ...reason } = JSON.parse(branch) as SkippedBranch
  return runs ? undefined : (reason as SkipReason)
}
