import type { Adapter, BegunUndo, ChangedRun, UndoPlan } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { partsOf } from '../base/held-up.ts'
import { isContended } from '../base/outage.ts'
import { planUndo } from '../decisions/plan-undo.ts'

/** The most runs that one round plans. */
const ROUND_MAX = 100

/**
 * Begins the undos of stopped runs: once nothing is in flight in a run, plans its undo and begins it. Any worker may do this at any time, because
 * the store begins a run's undo only once. The end of the last attempt triggers nothing: the next look finds the run drained.
 */
export async function beginDueUndos(parts: {
  readonly adapter: Adapter
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  /** Only these runs; undefined means any. */
  readonly runIds: readonly string[] | undefined
  /** Begins undos in the store, and takes on the steps that it leases. */
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
    // If none of the drained runs was begun, another worker is handling them. After a full round there may be more.
    if (begun.length === 0 || drained.length < ROUND_MAX) return moved
  }
}

/** Begins all undos together. If another transaction has locked a row of one, begins each alone, so that only that one waits for the next look. */
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
