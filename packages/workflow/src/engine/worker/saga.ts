import type { Adapter, BegunUndo, ChangedRun, UndoPlan } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { partsOf } from '../base/held-up.ts'
import { isContended } from '../base/outage.ts'
import { planUndo } from '../decisions/plan-undo.ts'

/** Runs that one round plans at most. */
const ROUND_MAX = 100

/**
 * Moves stopping runs on: once nothing is in flight in a run, plans its undo and begins it. Any worker may, at any time: the store begins
 * the undo of a run once. Nobody has to notice that the last attempt ended; whoever looks next finds the run drained.
 */
export async function beginDueUndos(parts: {
  readonly adapter: Adapter
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  /** Only these; undefined looks for any. */
  readonly runIds: readonly string[] | undefined
  /** Begins undos in the store, and takes on what it is leased of them. */
  readonly begin: (plans: readonly UndoPlan[]) => Promise<readonly BegunUndo[]>
}): Promise<readonly ChangedRun[]> {
  const moved: ChangedRun[] = []
  for (;;) {
    const drained = await parts.adapter.drain({
      definitionIds: [...parts.definitions.keys()],
      runIds: parts.runIds,
      limit: ROUND_MAX,
    })
    if (drained.length === 0) return moved
    const plans = drained.map((run) => {
      const { graph, record } = parts.definitions.get(run.definitionId)!
      return planUndo(graph, record.shape, run)
    })
    const begun = await beginEach(parts.begin, plans)
    moved.push(...begun)
    // Nothing begun of what was drained: another worker is at it. A full round: there may be more.
    if (begun.length === 0 || drained.length < ROUND_MAX) return moved
  }
}

/** Begins all undos together; when somebody holds a row of one, each alone, so that only that one is left for the next look. */
async function beginEach(
  begin: (plans: readonly UndoPlan[]) => Promise<readonly BegunUndo[]>,
  plans: readonly UndoPlan[],
): Promise<readonly BegunUndo[]> {
  try {
    return await begin(plans)
  } catch (error) {
    if (!isContended(error)) throw error
    if (plans.length === 1) return []
  }
  const begun: BegunUndo[] = []
  for (const part of partsOf(plans)) begun.push(...(await beginEach(begin, part)))
  return begun
}
