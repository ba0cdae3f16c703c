import type { Effect } from './load.ts'

/** What a process of the load says to its supervisor. */
export type Said =
  | { readonly type: 'ready' }
  | { readonly type: 'effect'; readonly effect: Effect }
  /** The worker has said that the store went back. */
  | { readonly type: 'went-back' }
  | { readonly type: 'started'; readonly workflow: string; readonly runId: string }
  /** A wait for a run has ended: it completed, or the code of the error. */
  | { readonly type: 'ended'; readonly workflow: string; readonly runId: string; readonly how: string }
  | { readonly type: 'refused'; readonly workflow: string; readonly code: string }

/** What a supervisor tells the process that starts runs. */
export type Told = { readonly type: 'also'; readonly workflow: string } | { readonly type: 'rest' }

export interface Setup {
  readonly url: string
  readonly workflows: readonly string[]
}

export function setupOf(): Setup {
  return JSON.parse(process.env['FAILOVER_SETUP']!) as Setup
}

export function say(said: Said): void {
  process.send?.(said)
}
