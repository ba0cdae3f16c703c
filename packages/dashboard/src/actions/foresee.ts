import type { Engine, RunSummary } from '@belay/workflow'
import type { ActionRequest, ActionResult } from '../api.ts'
import { withoutCredentials } from '../problem.ts'
import { bulkOf } from './bulk.ts'

const ITEMS_MAX = 1_000

/** Tells what an action would do, and changes nothing: by the engine's dry run, or, where it has none, by what it offers for the step now. */
export async function foresee(engine: Engine, run: RunSummary, action: ActionRequest): Promise<ActionResult> {
  const bulk = bulkOf(engine, action)
  if (bulk === undefined) return offered(engine, run, action)
  const { changed, refused } = await bulk([run.id], { dryRun: true })
  const [no] = refused
  if (no !== undefined) {
    return { changed: false, sentence: withoutCredentials(no.why), refused: no.code ?? 'action_refused' }
  }
  if (changed === 0) return { changed: false, sentence: `It is ${run.status}: there is nothing to change.` }
  return { changed: true, sentence: wouldBe(action, run) }
}

function wouldBe({ verb, step, priority }: ActionRequest, { status, priority: before }: RunSummary): string {
  const was = `It is ${status}`
  switch (verb) {
    case 'cancel':
      return `${was}, and would be cancelled: what runs ends first, then what was done is undone.`
    case 'pause':
      return `${was}, and would be paused: what runs goes on to its end, and nothing else begins.`
    case 'resume':
      return `${was}, and would go on, with all that became due during the pause.`
    case 'retry':
      return `${was}, and would go forward again: what failed, never began or was undone runs again.`
    case 'setPriority':
      return `Its priority is ${before}, and would be ${priority}.`
    case 'retryCompensation':
      return `The undo of "${step}" would be called again now, with all its retries.`
    case 'skipCompensation':
      return `"${step}" would be marked as undone, without calling its undo.`
    case 'retryStep':
      return `"${step}" would be tried again now.`
    case 'skipStep':
      return `"${step}" would be marked as skipped, and the steps that wait for it would go on.`
    case 'signal':
      return `"${step}" waits for this signal, and would go on.`
    case 'approve':
      return `"${step}" waits for a decision, and would go on.`
    case 'reject':
      return `"${step}" waits for a decision, and would fail: the run would be undone.`
  }
}

/** What the engine offers it takes; it may take more, like a signal before its step waits. That is told, and nothing is foretold. */
async function offered(engine: Engine, run: RunSummary, action: ActionRequest): Promise<ActionResult> {
  const { verb, step } = action
  const { steps } = await engine.explain(run.id, { itemsMax: ITEMS_MAX })
  const own = steps.find((one) => one.step === step)
  if (own?.actions.some((one) => one.verb === verb && one.run === undefined) === true) {
    return { changed: true, sentence: wouldBe(action, run) }
  }
  const where =
    own === undefined
      ? `"${step}" is no open step of this run, which is ${run.status}.`
      : stateWords(own.reason, step!)
  return { changed: false, sentence: `${where} The engine decides once it is done for real.` }
}

function stateWords(reason: string, step: string): string {
  return `Nothing is foretold for "${step}" in its state (${reason}).`
}
