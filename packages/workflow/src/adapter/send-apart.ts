import { isContended, isUnavailable, isUnreachable } from './store-errors.ts'

/**
 * After so many members that were refused one after the other, the store itself is probably in trouble: its disk is full, or a right is missing. The
 * rest then counts as unanswered, instead of being asked for one by one.
 */
const REFUSED_IN_A_ROW_MAX = 8

/** How to send a batch, and what to do with the parts of it that fail. */
export interface Sending<Item> {
  /** One call to the store. If it throws, members may be sent again that were recorded: that must be harmless. */
  readonly send: (batch: readonly Item[]) => Promise<void>
  /** The store refuses this item also when it is sent alone. */
  readonly refused: (item: Item, error: unknown) => Promise<void> | void
  /** Another transaction has locked what this item needs, also when it is sent alone. */
  readonly heldUp: (item: Item, error: unknown) => Promise<void> | void
  /** The store did not answer, or refuses everything: any of these may have been recorded. */
  readonly unanswered: (batch: readonly Item[], error: unknown) => Promise<void> | void
}

/**
 * Sends a batch, so that a member which the store refuses, or which waits for a locked row, does not hold up the others. A refused batch is sent
 * again in halves until each refused member is alone, whatever the reason; a batch that was held up is sent again in {@link partsOf parts}. Members
 * keep their order, and one call ends before the next begins. Rejects only if a given function other than `send` does.
 */
export function sendApart<Item>(batch: readonly Item[], sending: Sending<Item>): Promise<void> {
  return sendPart(batch, sending, { refusedInARow: 0 })
}

async function sendPart<Item>(
  batch: readonly Item[],
  sending: Sending<Item>,
  seen: { refusedInARow: number },
): Promise<void> {
  try {
    await sending.send(batch)
    seen.refusedInARow = 0
  } catch (error) {
    const isHeldUp = isContended(error)
    if (isUnreachable(error) || (isUnavailable(error) && seen.refusedInARow >= REFUSED_IN_A_ROW_MAX))
      return sending.unanswered(batch, error)
    if (batch.length === 1) {
      if (isUnavailable(error)) seen.refusedInARow += 1
      return isHeldUp ? sending.heldUp(batch[0]!, error) : sending.refused(batch[0]!, error)
    }
    for (const part of isHeldUp ? partsOf(batch) : halvesOf(batch)) await sendPart(part, sending, seen)
  }
}

/** Any one member may be the bad one: each call then clears half of what is left. */
function halvesOf<Item>(batch: readonly Item[]): readonly (readonly Item[])[] {
  const middle = batch.length >> 1
  return [batch.slice(0, middle), batch.slice(middle)]
}

/** Splits a batch that was held up: into parts small enough to isolate the held item soon, but few enough that each may wait for the lock. */
function partsOf<Item>(batch: readonly Item[]): readonly (readonly Item[])[] {
  const size = Math.floor(Math.sqrt(batch.length))
  const parts: (readonly Item[])[] = []
  for (let first = 0; first < batch.length; first += size) parts.push(batch.slice(first, first + size))
  return parts
}
