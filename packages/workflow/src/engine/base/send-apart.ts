import { partsOf } from './held-up.ts'
import { isContended, isUnavailable } from './outage.ts'

/** How to send a batch, and what to do with the parts of it that fail. */
export interface Sending<Item> {
  /** One call to the store. If it throws, members may be sent again that were recorded: that must be harmless. */
  readonly send: (batch: readonly Item[]) => Promise<void>
  /** Called before a refused batch of several is sent again in halves. */
  readonly onHalved?: (error: unknown) => void
  /** The store refuses this item also when it is sent alone. */
  readonly refused: (item: Item, error: unknown) => Promise<void> | void
  /** Another transaction has locked what this item needs, also when it is sent alone. */
  readonly heldUp: (item: Item, error: unknown) => Promise<void> | void
  /** The store did not answer: any of these may have been recorded. */
  readonly unanswered: (batch: readonly Item[], error: unknown) => Promise<void> | void
}

/**
 * Sends a batch, so that a member which the store refuses, or which waits for a locked row, does not hold up the others. A refused batch is sent
 * again in halves until each refused member is alone; a batch that was held up is sent again in {@link partsOf parts}. Members keep their order, and
 * one call ends before the next begins. Rejects only if a given function other than `send` does.
 */
export async function sendApart<Item>(batch: readonly Item[], sending: Sending<Item>): Promise<void> {
  try {
    await sending.send(batch)
  } catch (error) {
    if (isUnavailable(error)) return sending.unanswered(batch, error)
    const isHeldUp = isContended(error)
    if (batch.length === 1)
      return isHeldUp ? sending.heldUp(batch[0]!, error) : sending.refused(batch[0]!, error)
    if (!isHeldUp) sending.onHalved?.(error)
    for (const part of isHeldUp ? partsOf(batch) : halvesOf(batch)) await sendApart(part, sending)
  }
}

/** Any one member may be the bad one: each call then clears half of what is left. */
function halvesOf<Item>(batch: readonly Item[]): readonly (readonly Item[])[] {
  const middle = batch.length >> 1
  return [batch.slice(0, middle), batch.slice(middle)]
}
