import type { WorkflowDefinition } from '../../definition/workflow.ts'

/** A process that runs a workflow also runs its end steps. */
export function withFollowUps(workflows: readonly WorkflowDefinition[]): readonly WorkflowDefinition[] {
  return workflows.flatMap((workflow) =>
    workflow.followUp === null ? [workflow] : [workflow, workflow.followUp],
  )
}
