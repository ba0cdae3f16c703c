import { type Adapter, isTerminal, templateOf } from '../../adapter/index.ts'
import { sharesFate } from '../base/child-steps.ts'
import type { OfferedAction } from './offered-action.ts'

/** What sends these failed runs forward again, without repetitions: nothing for a run that cannot be retried now. */
export async function retriesOf(
  adapter: Pick<Adapter, 'findRun' | 'readStatuses' | 'readDefinitions'>,
  runIds: readonly string[],
): Promise<readonly OfferedAction[]> {
  const runs = await Promise.all(runIds.map((runId) => retriedThrough(adapter, runId)))
  return [...new Set(runs.filter((run) => run !== null))].map((run) => ({ verb: 'retry', run }))
}

/** The run itself, or the run above it that alone may retry it. Null if that completed, or has neither ended nor been parked. */
async function retriedThrough(
  adapter: Pick<Adapter, 'findRun' | 'readStatuses' | 'readDefinitions'>,
  runId: string,
): Promise<string | null> {
  const [found] = await adapter.readStatuses([runId])
  if (found === undefined || found.status === 'completed') return null
  if (!isTerminal(found.status)) return found.status === 'parked' ? runId : null
  const parent = (await adapter.findRun({ runId }))?.parent
  if (parent == null || parent.step === null) return runId
  const above = await adapter.findRun({ runId: parent.runId })
  if (above === null) return runId
  const [definition] = await adapter.readDefinitions([above.definitionId])
  const step = definition?.shape.steps[templateOf(parent.step)]
  const isDetached = step !== undefined && !sharesFate(step)
  return isDetached ? runId : retriedThrough(adapter, above.runId)
}
