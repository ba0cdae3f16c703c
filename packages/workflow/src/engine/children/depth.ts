import { type Adapter, type FoundRun, templateOf } from '../../adapter/index.ts'
import { PermanentError } from '../../handler-errors.ts'
import type { StepWithChild } from '../attempt/child-runs.ts'
import { sharesFate } from '../base/child-steps.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'

export interface DepthParts {
  readonly adapter: Pick<Adapter, 'findRun'>
  readonly registry: Pick<DefinitionRegistry, 'learn' | 'recordOf'>
}

/**
 * Refuses a child that would have too many parents above one another: a workflow that starts itself must end somewhere. A detached child is a run of
 * its own: it has no parents in this sense, and none of them counts for its own children. Returns the run that is to be its parent; null if somebody
 * deleted it.
 *
 * @throws PermanentError for a child that would be too deep.
 */
export async function checkDepth(
  { adapter, registry }: DepthParts,
  { claim, step, wait }: StepWithChild,
): Promise<FoundRun | null> {
  const parent = await adapter.findRun({ runId: claim.runId })
  if (wait.detached) return parent
  let run = parent
  for (let depth = 1; run?.parent != null; depth += 1) {
    const above: FoundRun | null = await adapter.findRun({ runId: run.parent.runId })
    if (above !== null && (await isDetached(registry, above, run.parent.step))) break
    if (depth === wait.depthMax) {
      throw new PermanentError(
        `Step "${step.name}" of run ${claim.runId} cannot start its child: it would have more than ${wait.depthMax} parents above one another. Let the workflow end its recursion, or raise \`depthMax\`.`,
      )
    }
    run = above
  }
  return parent
}

async function isDetached(
  registry: DepthParts['registry'],
  { definitionId }: FoundRun,
  step: number | null,
): Promise<boolean> {
  if (step === null) return false
  await registry.learn([definitionId])
  const own = registry.recordOf(definitionId)?.shape.steps[templateOf(step)]
  return own !== undefined && !sharesFate(own)
}
