import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Handler } from './handler.ts'

/**
 * What a step waits for, when it does not work itself. A waiting step holds no worker: it is a row with a due time, or none. Made by
 * `.sleep()`, `.waitForSignal()`, `.approval()` and `.poll()`; all durations are milliseconds.
 */
export type Wait = Sleep | SignalWait | Poll

/** `ms` is null when the step's handler says how long, or until when. */
export interface Sleep {
  readonly kind: 'sleep'
  readonly by: 'for' | 'until'
  /** A length, or an instant. */
  readonly ms: number | null
}

export interface SignalWait {
  /** An approval's signal is somebody's decision. */
  readonly kind: 'signal' | 'approval'
  readonly schema: StandardSchemaV1 | undefined
  readonly timeoutMs: number | null
  readonly onTimeout: OnTimeout
}

/** The step's handler is asked again and again. */
export interface Poll {
  readonly kind: 'poll'
  readonly everyMs: number
  readonly timeoutMs: number | null
}

/** What a timeout comes to: the step fails, or completes with a stand-in. */
export type OnTimeout = 'fail' | { readonly output: unknown } | Handler

/** Tells whether what a poll's handler gave back means "not yet". */
export function isNotYet(answer: unknown): boolean {
  return answer === undefined || answer === null || answer === false
}
