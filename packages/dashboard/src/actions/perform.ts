import type { ActionOptions, Engine, RunSummary, SignalReceipt, StepRepair } from '@belay/workflow'
import type { ActionRequest, ActionResult } from '../api.ts'

type Who = ActionOptions & { readonly by: string }

/** Does it, as `who`. Throws what the engine throws. */
export async function perform(
  engine: Engine,
  found: RunSummary,
  action: ActionRequest,
  who: Who,
): Promise<ActionResult> {
  const { verb, step = '' } = action
  const run = engine.runs.handle(found.id)
  switch (verb) {
    case 'cancel':
      return statusChange(engine, found, await run.cancel(who))
    case 'pause':
      return statusChange(engine, found, await run.pause(who))
    case 'resume':
      return statusChange(engine, found, await run.resume(who))
    case 'retry':
      await run.retry(who)
      return statusChange(engine, found, true)
    case 'retryStep':
      return repair(step, await run.retryStep(step, who))
    case 'skipStep':
      return repair(step, await run.skipStep(step, { ...who, output: payloadOf(action) }))
    case 'retryCompensation':
      return repair(step, await run.retryCompensation(step, who))
    case 'skipCompensation':
      return repair(step, await run.skipCompensation(step, who))
    case 'signal':
      // The history keeps no sender of a signal, but its key.
      return received(
        found,
        await run.signal<string>(step, payloadOf(action), {
          key: `${who.by}, by hand, ${crypto.randomUUID()}`,
        }),
      )
    case 'approve': {
      const decision = { by: who.by, comment: who.reason, payload: payloadOf(action) }
      return received(found, await run.approve(step, decision))
    }
    case 'reject':
      return received(found, await run.reject(step, { by: who.by, comment: who.reason }))
    case 'setPriority': {
      const { priority = 0 } = action
      const changed = await run.setPriority(priority, who)
      const sentence = changed
        ? `Its priority was ${found.priority} and is now ${priority}.`
        : `Its priority is ${priority} already.`
      return { changed, sentence }
    }
  }
}

function payloadOf({ payload }: ActionRequest): unknown {
  return payload === undefined ? undefined : JSON.parse(payload)
}

async function statusChange({ runs }: Engine, before: RunSummary, changed: boolean): Promise<ActionResult> {
  if (!changed) return { changed, sentence: `It is ${before.status}: there was nothing to change.` }
  const [now] = await runs.list({ idPrefix: before.id, limit: 1 })
  const { status } = now ?? before
  return { changed, sentence: `It was ${before.status} and is now ${status}.` }
}

function repair(step: string, { from, to, next }: StepRepair): ActionResult {
  const what = from === to ? `"${step}" is ${to}, and due now.` : `"${step}" was ${from} and is now ${to}.`
  const after = next.length === 0 ? '' : ` Next: ${next.join(', ')}.`
  return { changed: true, sentence: `${what}${after}` }
}

function received({ workflow, version }: RunSummary, receipt: SignalReceipt): ActionResult {
  const { result, reason, step, checked } = receipt
  const unchecked = checked ? '' : ` ${uncheckedWords(workflow, version)}`
  switch (result) {
    case 'delivered':
      return { changed: true, sentence: `Delivered: "${step}" goes on.${unchecked}` }
    case 'kept':
      return { changed: true, sentence: `Kept: "${step}" gets it once it waits.${unchecked}` }
    case 'duplicate':
      return { changed: false, sentence: 'It was sent before, and nothing has changed.' }
    case 'ignored':
      return { changed: false, sentence: `Ignored: ${IGNORED[reason!]}, and nothing was recorded.` }
  }
}

function uncheckedWords(workflow: string, version: number): string {
  return `The dashboard's process does not have ${workflow} v${version}, so nobody checks a payload.`
}

const IGNORED: Readonly<Record<NonNullable<SignalReceipt['reason']>, string>> = {
  signalled: 'the step has another signal already',
  timed_out: 'the timeout of the step came first',
  step_over: 'the step has ended',
  run_over: 'the run has ended',
}
