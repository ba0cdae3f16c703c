import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { SignalKind } from '../adapter/step-kinds.ts'
import type { Handler } from './handler.ts'

/**
 * What a waiting step waits for. Such a step holds no worker: it is a row, with or without a due time. Made by `.sleep()`, `.waitForSignal()`,
 * `.approval()`, `.poll()` and `.workflow()`; all durations are milliseconds.
 */
export type Wait = Sleep | SignalWait | Poll | Child

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

/** The step starts a run of its own, its child. The step's handler computes the child's input. */
export interface Child {
  readonly kind: 'child'
  /** The child's definition, or only the name of its workflow. */
  readonly of: ChildWorkflow | string
  /** Without, the child gets the parent's input. */
  readonly computesInput: boolean
  /** Null: the key is made from the parent's id and the step's name. */
  readonly key: ChildKey | null
  /** Nobody waits for the child, and nobody undoes it. */
  readonly detached: boolean
  /** A child that has completed is not undone with its parent. */
  readonly keepsEffects: boolean
  /** How many parents above one another a child may have. */
  readonly depthMax: number
}

/** A definition, of which this room needs no more. */
export interface ChildWorkflow {
  readonly name: string
  readonly version: number
}

export type ChildKey = (context: ChildKeyContext) => unknown

/** What decides about a child's key: the same at every attempt and in the undo. */
export interface ChildKeyContext<Input = unknown, Deps = Readonly<Record<string, unknown>>> {
  readonly runId: string
  /** The step's name. */
  readonly step: string
  readonly input: Input
  /** Outputs of the steps named in `dependsOn`, by name. */
  readonly deps: Deps
  /** With `over`: the item, as it was stored. */
  readonly item?: unknown
  readonly itemKey?: string | undefined
  readonly index?: number | undefined
  /** In a loop: the round, from 1, and the output of the round before. */
  readonly round?: number | undefined
  readonly last?: unknown
}

/** What a timeout does: the step fails, or completes with a stand-in. */
export type OnTimeout = 'fail' | { readonly output: unknown } | Handler

/** Tells whether a poll handler's answer means "not yet". */
export function isNotYet(answer: unknown): boolean {
  return answer === undefined || answer === null || answer === false
}
