import type { Claim, JsonText } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Logger } from '../../logger.ts'
import { type PayloadOwner, toJsonText } from '../base/payload.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

/** The end of an attempt whose handler returned this. */
export function serialisedEnd(
  parts: PartsOfPayload,
  attempt: OutputOf,
  value: unknown,
): Extract<AttemptEnd, { type: 'returned' | 'unstorable' }> {
  if (value === undefined) return { type: 'returned', output: null }
  try {
    return { type: 'returned', output: serialisedOutput(parts, attempt, value) }
  } catch (error) {
    return { type: 'unstorable', error }
  }
}

/** The JSON text of what a handler returned. Throws if it has none, or is too large. */
function serialisedOutput(parts: PartsOfPayload, attempt: OutputOf, value: unknown): JsonText {
  return toJsonText(value, parts.payloadMaxBytes, () => outputOwner(attempt, parts.log))
}

/** How errors name the output of an attempt. */
export function outputOwner({ claim: { runId }, step, definition }: OutputOf, log?: Logger): PayloadOwner {
  const { name } = step
  // All items of a map have one warning.
  const subject = `Output of step "${name.replace(/\[.*\]$/s, '')}" of workflow "${definition.name}"`
  return { what: `Output of step "${name}" of run ${runId}`, runId, step: name, log, subject }
}

/** What turns values into JSON text. */
export interface PartsOfPayload {
  readonly payloadMaxBytes: number
  /** Gets warnings about what JSON changes. */
  readonly log: Logger
}

/** The attempt that an output is of. */
export interface OutputOf {
  readonly claim: Claim
  readonly step: StepDefinition
  readonly definition: Pick<WorkflowDefinition, 'name'>
}
