import type { Sink } from './sink.ts'

/** What of the process a verb uses. */
export interface CallProcess {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly stdout: Sink
  readonly stderr: Sink
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: () => string
}
