import type { Adapter } from '@belay/workflow/adapter'
import { UNLIMITED } from '../scenario/worker.ts'

const LATER = Date.UTC(2100, 0, 1)

/** Prunes every third run that has ended. Returns the pruned runs, and everything that a store still shows of them. */
export async function pruneSome(
  adapter: Adapter,
  runIds: readonly string[],
): Promise<{ readonly pruned: readonly string[]; readonly left: readonly unknown[] }> {
  const asked = runIds.filter((_, position) => position % 3 === 1)
  const pruned = [...(await adapter.prune({ runIds: asked, finishedBefore: LATER }))].sort()
  const left: unknown[] = []
  for (const runId of pruned) left.push(...(await shownOf(adapter, runId)))
  return { pruned, left }
}

/** Everything that any verb shows of a run. Empty if the run is gone. */
async function shownOf(adapter: Adapter, runId: string): Promise<readonly unknown[]> {
  const answers = [
    [
      await adapter.readRun(runId),
      await adapter.findRun({ runId }),
      await adapter.readCollected(runId),
    ].filter((found) => found !== null),
    await adapter.readHistory({ runId, limit: UNLIMITED }),
    await adapter.load([{ runId, steps: [0, 1, 2] }]),
    await adapter.readStatuses([runId]),
    await adapter.stopping({ runIds: [runId] }),
    (await adapter.listRuns({ limit: UNLIMITED })).filter((run) => run.runId === runId),
  ]
  return answers.flat()
}
