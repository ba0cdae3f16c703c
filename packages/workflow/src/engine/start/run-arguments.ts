import type { RunOptions } from './start-run.ts'

/** What follows the workflow in `run()`: its input, which may be left out where it may be undefined, and options. */
export type RunArguments<Input> = undefined extends Input
  ? [input?: Input, options?: RunOptions]
  : [input: Input, options?: RunOptions]

/** One run of `runMany()`: its input, which may be left out where it may be undefined, and its key. */
export type NewRunOf<Input> = Omit<RunOptions, 'tx'> &
  (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })
