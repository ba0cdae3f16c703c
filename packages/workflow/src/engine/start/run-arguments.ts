import type { RunOptions } from './start-run.ts'

/** The arguments after the workflow in `run()`: its input, optional if it may be undefined, and options. */
export type RunArguments<Input> = undefined extends Input
  ? [input?: Input, options?: RunOptions]
  : [input: Input, options?: RunOptions]

/** One run of `runMany()`: its input, optional if it may be undefined, and its options. */
export type NewRunOf<Input> = Omit<RunOptions, 'tx'> &
  (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })
