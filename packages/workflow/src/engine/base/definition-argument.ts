import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'

/** Tells whether a value is a definition. Never throws, even for a value that throws when it is read. */
export function isDefinition(given: unknown): given is WorkflowDefinition {
  try {
    return typeof (given as WorkflowDefinition).record.checksum === 'string'
  } catch {
    return false
  }
}

/** Throws `unknown_workflow` if the value is not a definition, and `DefinitionError` for an invalid definition. */
export function checkDefinition(call: string, given: unknown): asserts given is WorkflowDefinition {
  if (isDefinition(given)) return
  throw new BelayError(
    'unknown_workflow',
    `${call}: the workflow must be a definition made by define() or defineGraph(); got ${shown(given)}.`,
  )
}
