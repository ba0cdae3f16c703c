import type { Quote } from '@belay/workflow'
import type { Store } from './store/store.ts'
import type { FlagsGiven } from './table/flags.ts'
import type { Output } from './terminal/output.ts'
import type { Sink } from './terminal/sink.ts'

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
}

/** What of the process a verb uses. */
export interface CallProcess {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly stdout: Sink
  readonly stderr: Sink
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: () => string
}
