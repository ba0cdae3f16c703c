import type { StepContext } from '../../definition/handler.ts'
import type { RoundContext } from '../../definition/loop-options.ts'
import type { ItemContext } from '../../definition/map-options.ts'
import { PermanentError } from '../../handler-errors.ts'
import { shown } from '../../shown.ts'
import { watchAnswer } from '../../thenable.ts'
import type { StepWithChild } from '../attempt/child-runs.ts'

const KEY_LENGTH_MAX = 512

/**
 * The key of a step's child: the same for all attempts of one round, and for its undo. A step that runs again after it was undone starts another
 * child.
 *
 * @throws PermanentError if the step's own function returns no key.
 */
export function childKey({ claim, step, wait }: StepWithChild, context: StepContext): string {
  const { runId, input, deps } = context
  const { item, itemKey, index, round, last } = context as StepContext & Partial<ItemContext & RoundContext>
  const ofItem = itemKey === undefined ? {} : { item, itemKey, index }
  const ofRound = round === undefined ? {} : { round, last }
  const own =
    wait.key === null
      ? `child:${runId}:${step.name}`
      : wait.key({ runId, step: step.name, input, deps, ...ofItem, ...ofRound })
  watchAnswer(own)
  const key = claim.round === 1 ? own : `${String(own)}:${claim.round}`
  if (typeof own === 'string' && own !== '' && typeof key === 'string' && key.length <= KEY_LENGTH_MAX)
    return key
  throw new PermanentError(
    `key of step "${step.name}" of run ${runId} returned ${shown(own)}. The key of a child is a text of 1 to ${KEY_LENGTH_MAX} characters.`,
  )
}
