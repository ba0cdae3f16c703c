/** The greatest priority of a run, and of a step. A step's own is added to its run's, so a step may have twice as much. */
export const PRIORITY_MAX = 1_000

/** How far an undo moves forward in the queue, in minutes: further than any step that goes forward. */
export const UNDO_LEAD_MINUTES = 2 * PRIORITY_MAX + 1

const MINUTE_MS = 60_000

/** What decides about a step's place in the queue besides its time. */
interface Queued {
  readonly undoOf: unknown
  /** Its run's and its own together; absent or null for 0. */
  readonly priority?: number | null | undefined
}

/** How many minutes a step moves forward in the queue: one for each level of its priority, and an undo further than all of them. */
export function leadOf({ undoOf, priority }: Queued): number {
  return undoOf === null ? (priority ?? 0) : UNDO_LEAD_MINUTES
}

/**
 * The place in the queue of a step that became ready at `readyAt`, in epoch milliseconds: claims take the lowest place first. Nothing starves,
 * because a place never changes, and whatever becomes ready later than the greatest lead comes behind it. A step that is due later than `now` cannot
 * be claimed before, so it is queued at that time; the first sweep after it gives the step its place.
 */
export function placeOf(readyAt: number, queued: Queued, now: number): number {
  return readyAt > now ? readyAt : readyAt - leadOf(queued) * MINUTE_MS
}
