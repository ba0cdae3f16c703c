import type { FoundRun } from '../../adapter/index.ts'
import { PermanentError } from '../../handler-errors.ts'
import type { StepWithChild } from '../attempt/child-runs.ts'
import { type BondParts, isDetached } from '../control/family.ts'

/**
 * Refuses a child that would have too many parents above one another: a workflow that starts itself must end somewhere. A detached child is a run of
 * its own: it has no parents in this sense, and none of them counts for its own children. Returns the run that is to be its parent; null if somebody
 * deleted it.
 *
 * @throws PermanentError for a child that would be too deep.
 */
export async function checkDepth(
  { adapter, registry }: BondParts,
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
