import {
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
