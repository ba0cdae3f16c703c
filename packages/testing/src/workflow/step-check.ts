import type { WorkflowDefinition } from '@belay/workflow'
import { BelayError } from '@belay/workflow/adapter'

/** Throws `invalid_option` for a step that the workflow does not have. The names of steps of children are not checked. */
export function checkStep(call: string, step: string, { name, steps }: WorkflowDefinition): string {
  if (step.includes('/')) return step
  const owner = step.replace(/\[.*\]$/s, '')
  const known = steps.map((one) => one.name).filter((one) => !one.endsWith('[]'))
  if (known.includes(step) || (known.includes(owner) && steps.some((one) => one.name === `${owner}[]`)))
    return step
  throw new BelayError(
    'invalid_option',
    `${call}: workflow "${name}" has no step "${step}". Its steps are ${known.join(', ')}. A step of a child is named after the child's workflow, like ship/pack.`,
  )
}
