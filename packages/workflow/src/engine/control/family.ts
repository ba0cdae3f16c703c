import {
  type Adapter,
  isTerminal,
  RUN_STATUSES,
  type RunRecord,
  type RunStatus,
  templateOf,
} from '../../adapter/index.ts'
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
  const children: RunRecord[] = []
  for (let before: string | undefined; ; before = children.at(-1)!.runId) {
    const page = await adapter.listRuns({ parentId: runId, status: LIVE, before, limit: PAGE_MAX })
    children.push(...page)
    if (page.length < PAGE_MAX) break
  }
  return children.filter(({ parent }) => {
    const step = parent?.step ?? null
    const own = step === null ? undefined : shape.steps[templateOf(step)]
    return own !== undefined && sharesFate(own)
  })
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
