import { definitionError, type Place } from '../graph/place.ts'
import { yesOrNo } from './option-check.ts'

/** What a step's effect means for the undo of its run. */
export interface EffectOptions {
  /**
   * The step's effect cannot be undone, so the step takes no `compensate`. If the run is undone, its undo report names the step as `irreversible`.
   */
  readonly irreversible?: boolean | undefined
}

/** What `.step()` takes besides. */
export interface PivotOptions {
  /**
   * Once this step has completed, its run goes forward only. A later step that fails for good waits for an operator instead of beginning an undo.
   * Every other step must come before or after the pivot.
   */
  readonly pivot?: boolean | undefined
}

export const EFFECT_OPTION_NAMES = ['irreversible'] as const
export const PIVOT_OPTION_NAMES = ['pivot'] as const

interface Given {
  readonly irreversible?: unknown
  readonly pivot?: unknown
  readonly compensate?: unknown
}

/** Checks `irreversible` and `pivot`. */
export function sagaPolicy(
  place: Place,
  { irreversible, pivot, compensate }: Given,
): { readonly irreversible: boolean; readonly pivot: boolean } {
  const policy = {
    irreversible: irreversible !== undefined && yesOrNo(place, 'irreversible', irreversible),
    pivot: pivot !== undefined && yesOrNo(place, 'pivot', pivot),
  }
  if (policy.irreversible && compensate !== undefined) {
    throw definitionError(
      place,
      'irreversible and compensate are both given. If compensate can undo the step, remove irreversible; otherwise remove compensate.',
    )
  }
  return policy
}
