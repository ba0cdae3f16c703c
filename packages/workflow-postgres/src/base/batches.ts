/** Characters of payload in one statement. A parameter is one string, and both client and server must hold all of it in memory. */
const BATCH_PAYLOAD_MAX = 16 * 1024 * 1024

/** Cuts items into batches whose payloads stay below the limit. An item larger than the limit gets a batch of its own. */
export function batchesBySize<Item>(
  items: readonly Item[],
  payloadOf: (item: Item) => number,
): readonly (readonly Item[])[] {
  const batches: Item[][] = []
  let room = 0
  for (const item of items) {
    const size = payloadOf(item)
    if (batches.length === 0 || size > room) {
      batches.push([])
      room = BATCH_PAYLOAD_MAX
    }
    batches.at(-1)!.push(item)
    room -= size
  }
  return batches
}
