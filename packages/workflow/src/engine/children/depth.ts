import type { Adapter, FoundRun } from '../../adapter/index.ts'
import { PermanentError } from '../../handler-errors.ts'
import type { StepWithChild } from '../attempt/child-runs.ts'

/**
 * Refuses a child that would have too many parents above one another: a workflow that starts itself must end somewhere. Returns the run that is to be
 * its parent; null if somebody deleted it.
 *
 * @throws PermanentError for a child that would be too deep.
 */
export async function checkDepth(
  adapter: Pick<Adapter, 'findRun'>,
  { claim, step, wait }: StepWithChild,
): Promise<FoundRun | null> {
  let parent: FoundRun | null = null
  let next: string | undefined = claim.runId
  for (let depth = 0; next !== undefined; depth += 1) {
    if (depth === wait.depthMax) {
      throw new PermanentError(
        `Step "${step.name}" of run ${claim.runId} cannot start its child: it would have more than ${wait.depthMax} parents above one another. Let the workflow end its recursion, or raise \`depthMax\`.`,
      )
    }
    const found: FoundRun | null = await adapter.findRun({ runId: next })
    parent ??= found
    next = found?.parent?.runId
  }
  return parent
}
