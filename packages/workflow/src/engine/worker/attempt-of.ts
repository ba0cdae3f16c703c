import type { Claim } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { Attempt } from '../attempt/attempt.ts'
import type { AttemptParts } from '../attempt/attempt-parts.ts'
import type { ClaimOrigin } from '../attempt/attempt-phase.ts'
import type { Refused, SetAside } from '../base/set-aside.ts'

/** The attempt for a claim. Undefined for a row that no step of the definition has: it stays leased, until an operator has looked at the run. */
export function attemptOf(
  claim: Claim,
  definition: WorkflowDefinition,
  parts: AttemptParts<Attempt>,
  origin: ClaimOrigin,
  aside: SetAside,
): Attempt | undefined {
  try {
    return new Attempt(claim, definition, parts, origin)
  } catch (error) {
    const { runId, step } = claim
    aside.refused({ during: 'running', runId, name: `row ${step} of its steps` }, error)
    return undefined
  }
}

/** Recording the outcome of an attempt. */
export function settling({ claim, step }: Attempt): Refused {
  return { during: 'settling', runId: claim.runId, step: step.name }
}
