import type { SerialisedError } from '../cause.ts'

/**
 * How a step ended past whose failure its run goes on, as those that depend on it see it. Of a failed step the error is that of its last attempt.
 */
export type Settled<Output> =
  | { readonly status: 'completed'; readonly output: Output }
  | { readonly status: 'failed'; readonly error: SerialisedError }

/** What happens to the run if a step fails for good. */
export type OnFailure = 'stop' | 'continue'
