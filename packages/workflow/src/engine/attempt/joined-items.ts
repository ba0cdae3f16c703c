import type { StepPayloads } from '../../adapter/index.ts'
import type { CollectPolicy } from '../../definition/step.ts'
import { PermanentError } from '../../handler-errors.ts'
import { sentence } from '../../words.ts'
import { checkPayloadSize } from '../base/payload.ts'
import { completedText, failedText } from '../base/settled-text.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import { loopEnd } from './rounds.ts'
import { type OutputOf, outputOwner } from './serialised-output.ts'

/** An item of a map, or a round of a loop, that has ended. */
export type EndedItem = Pick<StepPayloads, 'output' | 'error' | 'failed' | 'item'>

/**
 * The end of an attempt that joins the outputs of a map's items, given in their order, or as the JSON text that they make; or takes that of a loop's
 * last round.
 */
export function joinedEnd(
  attempt: OutputOf,
  items: readonly EndedItem[] | string,
  { payloadMaxBytes }: { readonly payloadMaxBytes: number },
): AttemptEnd {
  const { map } = attempt.step
  if (typeof items !== 'string' && map?.part === 'join' && map.of === 'repeat') return loopEnd(items[0]!)
  const collects = map?.part === 'join' ? map.collects : null
  try {
    if (typeof items !== 'string' && collects !== null) checkSuccess(attempt.step.name, items, collects)
    const output = typeof items === 'string' ? items : `[${items.map(settledText).join(',')}]`
    checkPayloadSize(output, payloadMaxBytes, () => outputOwner(attempt))
    return { type: 'returned', output }
  } catch (error) {
    return { type: 'threw', error }
  }
}

function settledText({ failed, output, error }: EndedItem): string {
  return failed ? failedText(error ?? null) : completedText(output ?? 'null')
}

function checkSuccess(map: string, items: readonly EndedItem[], { minSuccess }: CollectPolicy): void {
  if (minSuccess === null) return
  const isPercent = 'percent' in minSuccess
  const wanted = isPercent ? Math.ceil((items.length * minSuccess.percent) / 100) : minSuccess.items
  const failed = items.filter((item) => item.failed)
  const completed = items.length - failed.length
  if (completed >= wanted) return
  const limit = isPercent ? `${minSuccess.percent}% of them (${wanted})` : String(wanted)
  throw new PermanentError(
    `Of the ${items.length} items of map "${map}", ${completed} completed and ${failed.length} failed, and minSuccess asks for ${limit}.${firstFailure(failed[0])}`,
  )
}

function firstFailure(item: EndedItem | undefined): string {
  if (item === undefined) return ''
  const { message } = JSON.parse(item.error ?? '{}') as { readonly message?: string }
  return ` The first failure is that of item "${item.item?.key}": ${sentence(message ?? 'unknown')}`
}
