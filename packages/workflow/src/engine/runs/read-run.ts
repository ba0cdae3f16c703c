import type { Adapter } from '../../adapter/index.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { SeenRun } from './run-feed.ts'

/** Reads a run for those who wait for its outputs. Null if there is no such run. */
export async function readRun(
  { adapter, registry }: { readonly adapter: Adapter; readonly registry: DefinitionRegistry },
  runId: string,
): Promise<SeenRun | null> {
  const found = await adapter.readRun(runId)
  if (found === null) return null
  return { ...found, mayFail: await registry.mayFail(found.run.definitionId) }
}
