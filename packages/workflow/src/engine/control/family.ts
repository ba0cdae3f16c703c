import {
  type Adapter,
  type FoundRun,
  isTerminal,
  RUN_STATUSES,
  type RunRecord,
  type RunStatus,
  templateOf,
} from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { hasChildren, runsChild, sharesFate } from '../base/child-steps.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { Action } from './action.ts'
import type { Actor } from './change-of.ts'

export interface BondParts {
  readonly adapter: Pick<Adapter, 'findRun'>
  readonly registry: Pick<DefinitionRegistry, 'learn' | 'recordOf'>
}

export interface FamilyParts {
  readonly adapter: Pick<Adapter, 'findRun' | 'listRuns' | 'readHistory' | 'readStatuses'>
  readonly registry: DefinitionRegistry
}

/** How many children one read returns. */
const PAGE_MAX = 200
/** How many children are named at most. */
const NEWEST_MAX = 1_000

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

/** The newest children of a run that have not ended, newest first. A map may have thousands more. */
export function newestChildren(
  adapter: Pick<Adapter, 'listRuns'>,
  runId: string,
): Promise<readonly RunRecord[]> {
  return adapter.listRuns({ parentId: runId, status: LIVE, limit: NEWEST_MAX })
}

/** Whether the child of this step is a run of its own. False for a step that the parent does not have. */
export async function isDetached(
  registry: BondParts['registry'],
  { definitionId }: FoundRun,
  step: number | null,
): Promise<boolean> {
  if (step === null) return false
  await registry.learn([definitionId])
  const own = registry.recordOf(definitionId)?.shape.steps[templateOf(step)]
  return own !== undefined && runsChild(own) && !sharesFate(own)
}

/** All children of a run that have not ended, newest first. */
async function openChildren(
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

/** A parent, or the step of a parent, that acts on its child. */
export function byParent(parentId: string, reason: string | null = null): Actor {
  return { actor: `run ${parentId}`, reason, isParent: true }
}

/** Whether the child's newest action of this kind was its parent's: one that an operator paused stays paused, one that an operator cancelled has failed. */
export async function wasDoneByParent(
  adapter: Pick<Adapter, 'readHistory'>,
  { childId, parentId }: Bond,
  wanted: 'pause' | 'cancel',
): Promise<boolean> {
  const history = await adapter.readHistory({ runId: childId, limit: HISTORY_MAX })
  const last = history.filter(({ action }) => action === wanted).at(-1)
  return last?.actor === byParent(parentId).actor
}

const HISTORY_MAX = 100

/** A child and its parent. */
export interface Bond {
  readonly childId: string
  readonly parentId: string
}

/**
 * Pauses the child of a paused parent, and resumes a child that was paused with a parent that goes on. Looks again after it has acted: whoever changes
 * the parent meanwhile aligns its children after the change, so whoever comes last sees what the other did.
 */
export async function alignPause(
  { adapter, act }: Pick<FamilyParts, 'adapter'> & Pick<Acting, 'act'>,
  { childId, parentId }: Bond,
): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const statuses = await adapter.readStatuses([childId, parentId], { stored: true })
    const statusOf = (id: string) => statuses.find(({ runId }) => runId === id)?.status
    const [child, parent] = [statusOf(childId), statusOf(parentId)]
    if (child === undefined || parent === undefined || isTerminal(child)) return
    if ((parent === 'paused') === (child === 'paused')) return
    const isHeld = child === 'paused' && (await wasDoneByParent(adapter, { childId, parentId }, 'pause'))
    if (child === 'paused' && !isHeld) return
    const type = child === 'paused' ? 'resume' : 'pause'
    await act(childId, { type }, byParent(parentId)).catch(ignoreEnded)
  }
}

/** More often than operators change their minds. */
const LOOKS_MAX = 20

/** What acts on runs. */
export interface Acting {
  readonly act: (runId: string, action: Action, by: Actor) => Promise<unknown>
}

/** The child ended meanwhile. */
export function ignoreEnded(error: unknown): void {
  if (!BelayError.is(error) || (error.code !== 'action_refused' && error.code !== 'unknown_run')) throw error
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
    `Run ${runId} of "${run.workflow}" cannot be ${action}d in a transaction: it may have children, which ${action} with it.`,
    { runId, remedy: `Call ${action}() without tx.` },
  )
}
