import type { Claim, JsonText } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import { type PayloadOwner, toJsonText } from '../base/payload.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import type { LossyOutputs } from './lossy-output.ts'

/** The end of an attempt whose handler returned this. */
export function serialisedEnd(
  parts: Parameters<typeof serialisedOutput>[0],
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
function serialisedOutput(
  parts: { readonly payloadMaxBytes: number; readonly lossyOutputs: LossyOutputs },
  attempt: OutputOf,
  value: unknown,
): JsonText {
  const output = toJsonText(value, parts.payloadMaxBytes, () => outputOwner(attempt))
  parts.lossyOutputs.look(attempt.step, attempt.claim.runId, value, output!)
  return output
}

/** How errors name the output of an attempt. */
export function outputOwner({ claim: { runId }, step: { name } }: OutputOf): PayloadOwner {
  return { what: `Output of step "${name}" of run ${runId}`, runId, step: name }
}

/** The attempt that an output is of. */
export interface OutputOf {
  readonly claim: Claim
  readonly step: StepDefinition
}
