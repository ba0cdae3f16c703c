import type { JsonText, Outcome } from '@belay/workflow/adapter'
import { refusalOf } from './payload.ts'
import type { RunRow, StepRow } from './rows.ts'

/**
 * What is recorded in place of an outcome whose payload the store refuses, or undefined when the store takes it.
 * The attempt ends for good, since a repetition would be refused as well, and the others of its batch don't pay.
 */
export function refused(run: RunRow, step: StepRow, outcome: Outcome): Outcome | undefined {
  const message = payloadsOf(outcome)
    .map(refusalOf)
    .find((refusal) => refusal !== undefined)
  if (message === undefined) return undefined
  const { runId, fence, direction, definitionId } = outcome
  const ref = { runId, step: step.step, fence, direction, definitionId }
  const error = { name: 'BelayError', message, code: 'payload_unserialisable' }
  if (direction === 'undo') return { ...ref, type: 'compensation_failed', error: JSON.stringify(error) }
  const { name } = run.definition.saved.shape.steps[step.step]!
  const tries = step.failures + step.losses + 1
  const cause = { type: 'step_failed', step: name, attempt: tries, error }
  return { ...ref, type: 'failed', error: JSON.stringify(error), cause: JSON.stringify(cause) }
}

function payloadsOf(outcome: Outcome): readonly JsonText[] {
  switch (outcome.type) {
    case 'completed':
      return [outcome.output]
    case 'failed':
      return [outcome.error, outcome.cause]
    case 'retry':
    case 'compensation_failed':
      return [outcome.error]
    case 'released':
    case 'received':
    case 'waiting':
    case 'compensated':
    case 'relayed':
      return []
  }
}
