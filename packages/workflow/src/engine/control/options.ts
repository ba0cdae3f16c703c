import {
  anything,
  checkArgument,
  checkOptions,
  name,
  note,
  type OptionTable,
  type SettingsOf,
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

/** The options of everything that is done to a run. */
export const ACTION_OPTIONS = {
  by: { sets: 'who acts', takes: note(BY_MAX_CHARS) },
  reason: { sets: 'why', takes: note(REASON_MAX_CHARS) },
} satisfies OptionTable

/** An action that may be part of a transaction. */
export interface WithinActionOptions extends ActionOptions {
  /**
   * An open transaction of the caller's on the engine's database, as `engine.run()` takes it: the action takes effect when it commits. The run
   * is held until then: whoever wants to change it waits. No event is told of it.
   */
  readonly tx?: unknown
}

export const WITHIN_ACTION_OPTIONS = {
  ...ACTION_OPTIONS,
  tx: { sets: 'the transaction that the action is part of', takes: anything },
} satisfies OptionTable

/** Checks options of an action that has no others. Throws `invalid_option`. */
export function checkActionOptions(method: string, options: unknown): Actor {
  return actorOf(checkOptions(method, options, ACTION_OPTIONS))
}

export function actorOf({ by, reason }: SettingsOf<typeof ACTION_OPTIONS>): Actor {
  return { actor: by ?? null, reason: reason ?? null }
}

/** Checks the name of a step of the run. Whether there is one is known when the run is read. Throws `invalid_option`. */
export function checkStepArgument(method: string, step: unknown): string {
  return checkArgument(method, 'the step', step, name)
}
