import type { Settled, StepContext } from '@belay/workflow'

/** Names of steps, of items and rounds with their keys, and of steps of children after the child's workflow, like `ship/pack`. */
export type TestedStep<Outputs> =
  | (keyof Outputs & string)
  | `${keyof Outputs & string}[${string}]`
  | `${string}/${string}`

/** What a stub of a step returns: its output; for the name of a map, that of one item. */
export type StubOutput<Outputs, Name> = Name extends keyof Outputs
  ? Completed<Outputs[Name]> | ItemOf<Outputs[Name]>
  : unknown

type Completed<Output> = [Exclude<Output, undefined>] extends [Settled<infer Own>] ? Own : Output
type ItemOf<Output> = Output extends readonly (infer Item)[] ? Completed<Item> : never

/** A handler in place of the step's own. */
export type Stub<Output> = (context: StepContext) => Output | Promise<Output>

/** How a test makes handlers fail. */
export interface FailOptions {
  /** How many attempts fail; those after it do their work. Default: all. */
  readonly times?: number
  /** The handler does its work, and the attempt fails after it: its effect is there, but the step did not complete. Default false. */
  readonly after?: boolean
}

/** How a test lets workers die. */
export interface CrashOptions {
  /** How many workers die, one with each attempt. Default 1. */
  readonly times?: number
  /** The worker dies before the handler does anything. Default: after it has returned, before that is recorded. */
  readonly before?: boolean
}
