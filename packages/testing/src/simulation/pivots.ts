import type { GraphStep } from '@belay/workflow'
import type { StepRecord } from '@belay/workflow/adapter'

/** A graph as data, as far as pivots go. */
interface Graph<Step> {
  readonly steps: Readonly<Record<string, Step | GraphStep>>
  readonly dag: Readonly<Record<string, readonly string[]>>
}

/** The graph with a pivot: every step named before it comes before it, and every step named after it comes after it. */
export function withPivot<Step, Version extends Graph<Step>>(version: Version, pivot: string): Version {
  const { steps, dag } = version
  const names = Object.keys(steps)
  const index = names.indexOf(pivot)
  if (index < 0) return version
  const edges: Record<string, readonly string[]> = { ...dag, [pivot]: names.slice(0, index) }
  for (const later of names.slice(index + 1)) edges[later] = [...new Set([...(edges[later] ?? []), pivot])]
  return {
    ...version,
    steps: { ...steps, [pivot]: { ...(steps[pivot] as GraphStep), pivot: true } },
    dag: edges,
  }
}

/** Whether a pivot of the run has completed: then nothing of it may be undone. `versions`: those that its run may follow. */
export function isPastPivot(
  { versions }: { readonly versions: readonly { readonly steps: Readonly<Record<string, object>> }[] },
  rows: readonly StepRecord[],
): boolean {
  return versions.some(({ steps }) =>
    rows.some(({ name, status }) => {
      const step = steps[name]
      return status === 'completed' && step !== undefined && 'pivot' in step && step.pivot === true
    }),
  )
}
