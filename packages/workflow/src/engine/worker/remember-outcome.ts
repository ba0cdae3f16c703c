import { isItem, type Outcome } from '../../adapter/index.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { PayloadCache } from '../base/payload-cache.ts'
import { completedText, failedText } from '../base/settled-text.ts'

/** Keeps what the dependents of a step need to know of its recorded outcome. */
export function rememberOutcome(
  payloads: PayloadCache,
  { dependents, step }: Pick<Attempt, 'dependents' | 'step'>,
  outcome: Outcome,
): void {
  // A map may have thousands of items, and only its join reads them, once.
  if (isItem(outcome.step) || dependents.length === 0) return
  const { runId, step: number } = outcome
  const continues = step.onFailure === 'continue'
  if (outcome.type === 'completed') {
    payloads.rememberOutput(runId, number, continues ? completedText(outcome.output) : outcome.output)
  }
  if (outcome.type === 'failed' && continues)
    payloads.rememberOutput(runId, number, failedText(outcome.error))
  if (outcome.type === 'skipped') payloads.rememberOutput(runId, number, null)
  if (step.branch === null) return
  if (outcome.type === 'completed' || outcome.type === 'failed') payloads.rememberBranch(runId, number, null)
  if (outcome.type === 'skipped') payloads.rememberBranch(runId, number, outcome.branch)
}
