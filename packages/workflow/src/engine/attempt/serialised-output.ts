import type { Claim, JsonText } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import { type PayloadOwner, toJsonText } from '../base/payload.ts'
import type { LossyOutputs } from './lossy-output.ts'

/** The JSON text of what a handler returned. Throws if it has none, or is too large. */
export function serialisedOutput(
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
interface OutputOf {
  readonly claim: Claim
  readonly step: StepDefinition
}
