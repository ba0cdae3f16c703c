import type { WorkflowDefinition } from '@belay/workflow'

/** The numbers of all steps that depend on this one, directly or through others. */
export function descendants(workflow: WorkflowDefinition, number: number): readonly number[] {
  const found = new Set<number>()
  const open = [number]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const dependent of workflow.graph.dependents[next]!) {
      if (!found.has(dependent)) open.push(dependent)
      found.add(dependent)
    }
  }
  return [...found]
}
