import { isTerminal, type RunToChange, type StoredRun } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { type Action, type ActionResult, decideAction } from './action.ts'
import type { Actor } from './change-of.ts'
import { type BondParts, isDetached } from './family.ts'

/** What would run a child that has ended again. Its parent would start another one: its effects would happen twice. */
const RETRIES: ReadonlySet<Action['type']> = new Set(['retry', 'retry_step', 'skip_step'])

/** What follows from an action, or an ended child that only its parent may retry unless it is detached. */
type Deciding = Omit<ReturnType<typeof decideAction>, 'answer'> & {
  readonly answer: ActionResult | { readonly child: StoredRun }
}

/**
 * Decides an action, with `change` as the store's verb. Null if there is no such run.
 *
 * @throws BelayError `action_refused` for the retry of a child that has ended and shares its parent's fate, if its parent does not act itself. What the
 * parent does at that time cannot matter: its rows are not asked.
 */
export async function decideForFamily(
  parts: BondParts,
  { action, by }: { readonly action: Action; readonly by: Actor },
  change: (decide: (found: RunToChange) => Deciding) => Promise<Deciding['answer'] | null>,
): Promise<ActionResult | null> {
  const isOfParent = ({ parent, status }: StoredRun) =>
    RETRIES.has(action.type) && by.isParent !== true && parent?.step != null && isTerminal(status)
  let detached: number | null = null
  for (;;) {
    const answer = await change((found) =>
      isOfParent(found.run) && found.run.parent!.step !== detached
        ? { change: null, answer: { child: found.run } }
        : decideAction(found, action, by),
    )
    if (answer === null || !('child' in answer)) return answer
    await assertDetached(parts, answer.child)
    // If the parent moves to another version meanwhile, its step gets another number, here too.
    detached = answer.child.parent!.step
  }
}

/** A child outlives its parent's row only as a run of its own. */
async function assertDetached(parts: BondParts, { runId, workflow, parent }: StoredRun) {
  const found = await parts.adapter.findRun({ runId: parent!.runId })
  if (found === null || (await isDetached(parts.registry, found, parent!.step))) return
  const refusal = 'cannot be retried alone: it shares the fate of its parent.'
  throw new BelayError('action_refused', `Run ${runId} of "${workflow}" ${refusal}`, {
    runId,
    refusal,
    insteadOn: parent!.runId,
    remedy: `Retry run ${parent!.runId} once it has ended or is parked: its step runs again with a child. If it has completed, start another run instead.`,
  })
}
