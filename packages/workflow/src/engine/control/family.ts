import {
  type Adapter,
  isTerminal,
  RUN_STATUSES,
  type RunRecord,
  type RunStatus,
  templateOf,
} from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { hasChildren, sharesFate } from '../base/child-steps.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { Actor } from './change-of.ts'

export interface FamilyParts {
  readonly adapter: Pick<Adapter, 'findRun' | 'listRuns' | 'readHistory'>
  readonly registry: DefinitionRegistry
}

/** How many children one read returns. */
const PAGE_MAX = 200

const LIVE: readonly RunStatus[] = RUN_STATUSES.filter((status) => !isTerminal(status))

/** The children of a run that have not ended and share its fate, newest first. */
export async function liveChildren(
  { adapter, registry }: FamilyParts,
  runId: string,
): Promise<readonly RunRecord[]> {
  const run = await adapter.findRun({ runId })
  if (run === null) return []
  await registry.learn([run.definitionId])
  const shape = registry.recordOf(run.definitionId)?.shape
  if (shape === undefined || !hasChildren(shape)) return []
  return (await openChildren(adapter, runId)).filter(({ parent }) => {
    const step = parent?.step ?? null
    const own = step === null ? undefined : shape.steps[templateOf(step)]
    return own !== undefined && sharesFate(own)
  })
}

/** All children of a run that have not ended, newest first. */
export async function openChildren(
  adapter: Pick<Adapter, 'listRuns'>,
  runId: string,
): Promise<readonly RunRecord[]> {
  const children: RunRecord[] = []
  for (let before: string | undefined; ; before = children.at(-1)!.runId) {
    const page = await adapter.listRuns({ parentId: runId, status: LIVE, before, limit: PAGE_MAX })
    children.push(...page)
    if (page.length < PAGE_MAX) return children
  }
}

/** Who pauses and resumes a child together with its parent. */
export function pausedBy(parentId: string): Actor {
  return { actor: `run ${parentId}`, reason: null }
}

/** Whether the child was paused together with its parent: one that an operator paused stays paused. */
export async function isPausedBy(
  { adapter }: FamilyParts,
  child: RunRecord,
  parentId: string,
): Promise<boolean> {
  const history = await adapter.readHistory({ runId: child.runId, limit: 100 })
  const last = history.filter(({ action }) => action === 'pause').at(-1)
  return last?.actor === pausedBy(parentId).actor
}

/**
 * Refuses an action in a caller's transaction that would have to reach children: others could not be found in it, and their rows would stay locked
 * until it ends.
 *
 * @throws BelayError `action_refused` for a run whose workflow has steps with children.
 */
export async function assertNoFamily(
  adapter: Pick<Adapter, 'findRun' | 'readDefinitions'>,
  {
    runId,
    action,
    tx,
  }: { readonly runId: string; readonly action: 'pause' | 'resume'; readonly tx: unknown },
): Promise<void> {
  const run = await adapter.findRun({ runId }, { tx })
  if (run === null) return
  const [definition] = await adapter.readDefinitions([run.definitionId], { tx })
  if (definition === undefined || !hasChildren(definition.shape)) return
  throw new BelayError(
    'action_refused',
    `Run ${runId} of "${run.workflow}" cannot be ${action}d in a transaction: it may have children, which ${action} with it. Call ${action}() without tx.`,
    { runId },
  )
}
