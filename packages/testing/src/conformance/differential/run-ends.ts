import type { Adapter } from '@belay/workflow/adapter'
import { UNLIMITED } from '../scenario/worker.ts'

/** The kept ends, in order, without their sequence, which is each store's own. Forgets the first `forgotten` of them. */
export async function endsOf(
  adapter: Adapter,
  definitionIds: readonly number[],
  forgotten: number,
): Promise<unknown> {
  const ends = await adapter.findRunEnds({ definitionIds, limit: UNLIMITED })
  const last = ends[forgotten - 1]
  const later =
    last === undefined
      ? ends
      : await adapter.findRunEnds({ definitionIds, after: last.sequence, limit: UNLIMITED })
  await adapter.forgetRunEnds(ends.slice(0, forgotten))
  // As an object: the order counts.
  return { ends: ends.map(({ sequence: _, ...end }) => end), later: later.length }
}
