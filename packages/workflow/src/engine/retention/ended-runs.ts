import type { Adapter, EndedRunsRequest } from '../../adapter/index.ts'

export interface Walk {
  readonly adapter: Adapter
  readonly request: Omit<EndedRunsRequest, 'after' | 'limit'>
  /** Where an earlier walk ended. */
  readonly after: string | null
  readonly batchMax: number
  /** Runs dealt with at most. */
  readonly limit: number
  /** Deals with a batch; resolves to how many of it were dealt with: what is being changed just now is left out. */
  readonly act: (runIds: readonly string[]) => Promise<number>
  readonly stopped: () => boolean
  /** Between two batches. */
  readonly rest?: () => Promise<void>
}

export interface Walked {
  readonly done: number
  readonly batches: number
  readonly more: boolean
  readonly cursor: string | null
}

/** Goes over ended runs batch by batch, each in a transaction of its own. Never meets a run twice, so that it comes to an end. */
export async function walkEnded(walk: Walk): Promise<Walked> {
  const { adapter, request, batchMax, limit } = walk
  let [done, batches, cursor] = [0, 0, walk.after]
  for (;;) {
    if (walk.stopped()) return { done, batches, more: true, cursor }
    const found = await adapter.findEnded({
      ...request,
      after: cursor,
      limit: Math.min(batchMax, limit - done),
    })
    if (found.runIds.length > 0) {
      done += await walk.act(found.runIds)
      batches += 1
    }
    cursor = found.cursor
    if (!found.more || done >= limit) return { done, batches, more: found.more, cursor }
    await walk.rest?.()
  }
}
