import type { Quote } from '@belay/workflow'
import type { ExitStatus } from './exit-status.ts'
import type { Store } from './store/store.ts'
import type { FlagsGiven } from './table/flags.ts'
import type { CallProcess } from './terminal/call-process.ts'
import type { Output } from './terminal/output.ts'

export type { CallProcess }

/** One call of a verb. */
export interface Call {
  readonly verb: { readonly name: string }
  /** By the names of the verb's arguments. */
  readonly args: Readonly<Record<string, string | undefined>>
  /** The values of the argument that takes many. */
  readonly rest: readonly string[]
  readonly flags: FlagsGiven
  readonly out: Output
  readonly process: CallProcess
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  /** How sentences tell what may hold payloads. Undefined: in full. */
  readonly quote?: Quote | undefined
  /** Opens the store, once. It never migrates and claims nothing. Throws a `CliError` with status 3. */
  connect(): Promise<Store>
  /** Runs another call, as `main()` does. */
  readonly again: (argv: readonly string[], process: CallProcess, calling: Calling) => Promise<ExitStatus>
}

/** How a call is made, besides what was typed. */
export interface Calling {
  readonly version: string
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  /** For a caller who may not see payloads. */
  readonly quote?: Quote | undefined
  /** Nothing may be changed: a verb that is not called with its own --dry-run is only checked. Default false. */
  readonly onlyDry?: boolean
}
