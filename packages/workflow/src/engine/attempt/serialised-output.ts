import type { Claim, JsonText } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import { toJsonText } from '../base/payload.ts'
import type { LossyOutputs } from './lossy-output.ts'

/** The JSON text of what a handler returned. Throws if it has none, or is too large. */
export function serialisedOutput(
  parts: { readonly payloadMaxBytes: number; readonly lossyOutputs: LossyOutputs },
  { claim, step }: { readonly claim: Claim; readonly step: StepDefinition },
  value: unknown,
): JsonText {
  const { runId } = claim
  const output = toJsonText(value, parts.payloadMaxBytes, () => {
    return { what: `Output of step "${step.name}" of run ${runId}`, runId, step: step.name }
  })
  parts.lossyOutputs.look(step, runId, value, output!)
  return output
}
