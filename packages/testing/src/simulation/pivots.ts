import type { StepRecord } from '@belay/workflow/adapter'
import type { Plan, Version } from './plan.ts'

/** A pivot in a graph: every step named before it comes before it, and every step named after it comes after it. */
export function withPivot({ steps, dag }: Version, pivot: string): Version {
  const names = Object.keys(steps)
  const index = names.indexOf(pivot)
  if (index < 0) return { steps, dag }
  const edges: Record<string, readonly string[]> = { ...dag, [pivot]: names.slice(0, index) }
  for (const later of names.slice(index + 1)) edges[later] = [...new Set([...(edges[later] ?? []), pivot])]
  return { steps: { ...steps, [pivot]: { ...steps[pivot]!, pivot: true } as never }, dag: edges }
}

/** Whether a pivot of the run has completed: then nothing of it may be undone. */
export function isPastPivot(plan: Plan, steps: readonly StepRecord[]): boolean {
  return plan.versions.some((version) =>
    Object.entries(version.steps).some(
      ([name, step]) =>
        'pivot' in step &&
        step.pivot === true &&
        steps.some((row) => row.name === name && row.status === 'completed'),
    ),
  )
}
