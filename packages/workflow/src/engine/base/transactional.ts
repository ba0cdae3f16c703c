import type { WorkflowDefinition } from '../../definition/workflow.ts'

/** Whether a step or a compensation of the workflow shares its transaction with its settlement. */
export function isTransactional({ steps }: WorkflowDefinition): boolean {
  return steps.some(
    ({ transaction, compensation }) => transaction !== null || compensation?.transaction != null,
  )
}
