import {
  type Adapter,
  isItem,
  isTerminal,
  type RunRecord,
  type RunToChange,
  type StepRecord,
  type StoredRun,
  templateOf,
} from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { isBuried, sharesFate } from '../base/child-steps.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { type Action, type ActionResult, decideAction } from './action.ts'
import type { Actor } from './change-of.ts'

/**
 * What an operator may do to a run that a step of another run owns. `alone`: to the child itself; its parent's step goes on waiting, and sees how it
 * ends. `parent`: its parent's step has recorded how the child ended, so only the parent can run it again; otherwise its effects would happen once for
 * the operator and once for the parent. docs/children.md says what each means.
 */
type Allowed = 'alone' | 'parent'

/** For a child that has not ended, and for one that has. A detached child is a run of its own. */
const ON_CHILDREN: Readonly<Record<Action['type'], { readonly live: Allowed; readonly ended: Allowed }>> = {
  pause: { live: 'alone', ended: 'alone' },
  resume: { live: 'alone', ended: 'alone' },
  cancel: { live: 'alone', ended: 'alone' },
  retry: { live: 'alone', ended: 'parent' },
  retry_step: { live: 'alone', ended: 'parent' },
  skip_step: { live: 'alone', ended: 'parent' },
  give_up_step: { live: 'alone', ended: 'alone' },
  retry_compensation: { live: 'alone', ended: 'alone' },
  skip_compensation: { live: 'alone', ended: 'alone' },
  set_priority: { live: 'alone', ended: 'alone' },
  migrate: { live: 'alone', ended: 'alone' },
  drop: { live: 'alone', ended: 'alone' },
  undo: { live: 'alone', ended: 'alone' },
}

/** What follows from an action, or the run whose parent must be asked first. */
type Deciding = Omit<ReturnType<typeof decideAction>, 'answer'> & {
  readonly answer: ActionResult | { readonly asks: OwnedRun }
}

/**
 * Decides an action, with `change` as the store's verb. Asks the parent of a child first, if what may be done depends on it. Null if there is no such
 * run.
 */
export async function decideForFamily(
  parts: FamilyParts,
  { action, by }: { readonly action: Action; readonly by: Actor },
  change: (decide: (found: RunToChange) => Deciding) => Promise<Deciding['answer'] | null>,
): Promise<ActionResult | null> {
  const decide = (found: RunToChange) => decideAction(found, action, by)
  const answer = await change((found) =>
    asksParent(found.run, action, by) ? { change: null, answer: { asks: found.run } } : decide(found),
  )
  if (answer === null || !('asks' in answer)) return answer
  await assertHelpsParent(parts, answer.asks)
  return (await change(decide)) as ActionResult | null
}

interface FamilyParts {
  readonly adapter: Pick<Adapter, 'readRun'>
  readonly registry: DefinitionRegistry
}

type OwnedRun = Pick<StoredRun, 'runId' | 'workflow' | 'key' | 'parent' | 'status' | 'startAt'>

/** Whether the parent's step must be asked before an operator acts on this run. What nobody can retry is refused without asking. */
function asksParent(run: OwnedRun, { type }: Action, { isParent }: Actor): boolean {
  const { parent, status } = run
  if (isParent === true || parent === null || parent.step === null) return false
  if (status === 'completed' || isBuried(run)) return false
  return ON_CHILDREN[type][isTerminal(status) ? 'ended' : 'live'] === 'parent'
}

/**
 * Resolves if acting on the child helps the step of its parent that waits for it, or if nobody owns it.
 *
 * @throws BelayError `action_refused` that names the parent and says what to do instead.
 */
async function assertHelpsParent({ adapter, registry }: FamilyParts, child: OwnedRun): Promise<void> {
  const { runId, step } = child.parent!
  const number = step!
  const items = isItem(number) ? { after: number - 1, before: number + 1, limit: 1 } : 'none'
  const parent = await adapter.readRun(runId, items)
  const row = parent?.steps.find((found) => found.step === number)
  // A child outlives its parent's row only as a run of its own.
  if (parent === null || row === undefined) return
  await registry.learn([parent.run.definitionId])
  const shape = registry.recordOf(parent.run.definitionId)?.shape.steps[templateOf(number)]
  if (shape === undefined || !sharesFate(shape) || waitsFor(parent.run, row, child)) return
  throw new BelayError(
    'action_refused',
    `Run ${child.runId} of "${child.workflow}" cannot be retried alone: step "${row.name}" of run ${runId} started it, and does not wait for it any more. ${remedyFor(parent.run, row.name)}`,
    { runId: child.runId },
  )
}

/** Whether the step has not recorded yet how this child ended. The key of the child of a later round ends with the round. */
function waitsFor({ cause }: RunRecord, { status, round }: StepRecord, { key }: OwnedRun): boolean {
  const isOpen = status === 'ready' || status === 'running' || status === 'waiting'
  return cause === null && isOpen && (round === 1 || key?.endsWith(`:${round}`) === true)
}

function remedyFor({ runId, status, cause }: RunRecord, step: string): string {
  if (status === 'completed') return `Run ${runId} has completed without it: start another run instead.`
  if (isTerminal(status)) return `Retry run ${runId} instead: its step runs again with it.`
  if (cause !== null) return `Wait until the undo of run ${runId} has ended, and retry that run instead.`
  return `Its parent goes on: call retryStep('${step}') on run ${runId} if that step failed, or wait until that run has ended, and retry it instead.`
}
