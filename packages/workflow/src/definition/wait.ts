import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { SignalKind } from '../adapter/step-kinds.ts'
import type { Handler } from './handler.ts'

/**
 * What a waiting step waits for. Such a step holds no worker: it is a row, with or without a due time. Made by `.sleep()`, `.waitForSignal()`,
 * `.approval()` and `.poll()`; all durations are milliseconds.
 */
export type Wait = Sleep | SignalWait | Poll

/** `ms` is null when the step's handler returns the duration or the instant. */
export interface Sleep {
  readonly kind: 'sleep'
  readonly by: 'for' | 'until'
  /** With `for` a duration, with `until` an epoch time; milliseconds. */
  readonly ms: number | null
}

export interface SignalWait {
  /** An approval's signal is somebody's decision. */
  readonly kind: SignalKind
  readonly schema: StandardSchemaV1 | undefined
  readonly timeoutMs: number | null
  readonly onTimeout: OnTimeout
}

/** The step's handler is called at intervals. */
export interface Poll {
  readonly kind: 'poll'
  readonly everyMs: number
  readonly timeoutMs: number | null
}

/** What a timeout does: the step fails, or completes with a stand-in. */
export type OnTimeout = 'fail' | { readonly output: unknown } | Handler

/** Tells whether a poll handler's answer means "not yet". */
export function isNotYet(answer: unknown): boolean {
  return answer === undefined || answer === null || answer === false
}
