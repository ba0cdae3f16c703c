import { type CallerTransaction, PRIORITY_MAX } from '../../adapter/index.ts'
import {
  anything,
  checkArgument,
  checkOptions,
  note,
  type OptionTable,
  rowName,
  type SettingsOf,
  wholeNumber,
} from '../../options/index.ts'
import type { Actor } from './change-of.ts'

const BY_MAX_CHARS = 200
const REASON_MAX_CHARS = 2_000

/** Who acts and why, for the run's history. */
export interface ActionOptions {
  /** Who: a name or an address, up to 200 characters. */
  readonly by?: string | undefined
  /** Why, up to 2,000 characters. */
  readonly reason?: string | undefined
}

/** The options of every action on a run. */
export const ACTION_OPTIONS = {
  by: { sets: 'who acts', takes: note(BY_MAX_CHARS) },
  reason: { sets: 'why', takes: note(REASON_MAX_CHARS) },
} satisfies OptionTable

/** Options of an action that can be part of a caller's transaction. */
export interface WithinActionOptions extends ActionOptions {
  /**
   * The caller's open transaction on the engine's database, as `engine.run()` takes it. The action takes effect when it commits. Until then the run
   * is locked, and other changes to it wait. No event is emitted for the action.
   */
  readonly tx?: CallerTransaction | undefined
}

export const WITHIN_ACTION_OPTIONS = {
  ...ACTION_OPTIONS,
  tx: { sets: 'the transaction that the action is part of', takes: anything },
} satisfies OptionTable

/** Checks the options of an action without further options. Throws `invalid_option`. */
export function checkActionOptions(method: string, options: unknown): Actor {
  return actorOf(checkOptions(method, options, ACTION_OPTIONS))
}

export function actorOf({ by, reason }: SettingsOf<typeof ACTION_OPTIONS>): Actor {
  return { actor: by ?? null, reason: reason ?? null }
}

/** Checks a run's priority. Throws `invalid_option`. */
export function checkPriority(method: string, priority: unknown): number {
  return checkArgument(method, 'the priority', priority, wholeNumber(0, PRIORITY_MAX))
}

/** Checks that a step name is a valid name. Whether the run has the step is checked when the run is read. Throws `invalid_option`. */
export function checkStepArgument(method: string, step: unknown): string {
  return checkArgument(method, 'the step', step, rowName)
}
