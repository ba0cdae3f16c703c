import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'

/** Tells a definition from anything else that was given in its place, also from what cannot be looked at. */
export function isDefinition(given: unknown): given is WorkflowDefinition {
  try {
    return typeof (given as WorkflowDefinition).record.checksum === 'string'
  } catch {
    return false
  }
}

/** Throws `unknown_workflow` for what is no definition. A definition that is not valid says so here. */
export function checkDefinition(call: string, given: unknown): asserts given is WorkflowDefinition {
  if (isDefinition(given)) return
  throw new BelayError(
    'unknown_workflow',
    `${call}: the workflow must be a definition made by define() or defineGraph(); got ${shown(given)}.`,
  )
}
