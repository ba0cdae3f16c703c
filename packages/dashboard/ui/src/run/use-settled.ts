import type { LayoutStep, ViewRun } from '@belay/graph-view'
import { useRef } from 'preact/hooks'

/**
 * The same object as long as nothing but the time of the reading has changed, and the run has ended: then a live refresh draws nothing anew. What a refresh
 * left as it was is the same object already.
 */
export function useSettled(run: ViewRun): ViewRun {
  const last = useRef(run)
  if (!isSettled(last.current, run)) last.current = run
  return last.current
}

function isSettled(before: ViewRun, now: ViewRun): boolean {
  if (now.finishedAt === undefined) return false
  const names = new Set([...Object.keys(before), ...Object.keys(now)]) as Set<keyof ViewRun>
  return [...names].every((name) => name === 'readAt' || before[name] === now[name])
}

/** The same array as long as the steps have the same names and edges: a large graph is laid out once. */
export function useShape<Step extends LayoutStep>(steps: readonly Step[]): readonly Step[] {
  const last = useRef(steps)
  const isSame =
    steps.length === last.current.length &&
    steps.every((step, index) => {
      const before = last.current[index]!
      return (
        step.name === before.name &&
        String(step.dependsOn) === String(before.dependsOn) &&
        (step.items === undefined) === (before.items === undefined)
      )
    })
  if (!isSame) last.current = steps
  return last.current
}
