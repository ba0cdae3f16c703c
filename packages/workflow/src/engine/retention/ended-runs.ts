import type { Adapter, EndedRunsRequest } from '../../adapter/index.ts'

export interface Walk {
  readonly adapter: Adapter
  readonly request: Omit<EndedRunsRequest, 'after' | 'limit'>
  /** The position where an earlier walk ended. */
  readonly after: string | null
  readonly batchMax: number
  /** The most runs to process. */
  readonly limit: number
  /** Processes a batch. Resolves to the number of processed runs: runs that are being changed are left out. */
  readonly act: (runIds: readonly string[]) => Promise<number>
  readonly stopped: () => boolean
  /** Called between two batches. */
  readonly rest?: () => Promise<void>
}

export interface Walked {
  readonly done: number
  readonly batches: number
  readonly more: boolean
  readonly cursor: string | null
}

/** Walks over ended runs in batches, each in its own transaction. Visits each run at most once, so that it terminates. */
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
