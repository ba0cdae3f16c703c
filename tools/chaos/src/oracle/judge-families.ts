import { isTerminal } from '@belay/workflow/adapter'
import { grouped } from '../grouped.ts'
import type { Facts, RunFacts } from './facts.ts'
import type { Rules } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/**
 * A step has one child for each time that it ran, a loop one for each round, and never more. A completed parent has a completed child. The children of a parent that was undone are
 * undone, and detached ones complete whatever happens.
 */
export function judgeFamilies({ runs, sightings }: Facts, rules: Rules): readonly Violation[] {
  const byParent = grouped(
    runs.filter(({ parentId }) => parentId !== null),
    ({ parentId }) => parentId!,
  )
  const retried = new Set(sightings.filter(({ what }) => what === rules.retried).map(({ runId }) => runId))
  const wrong = runs.flatMap((parent) =>
    Object.entries(rules.children).flatMap(([name, { workflow, isDetached, rounds = 1 }]) => {
      const step = parent.steps.find((candidate) => candidate.name === name)
      if (step === undefined) return []
      const children = (byParent.get(parent.id) ?? []).filter((child) => child.workflow === workflow)
      const what = `Step ${name} of run ${parent.id} of ${parent.workflow} (${parent.status}) is ${step.status}`
      if (children.length > rounds && !retried.has(parent.id))
        return [`${what} and has ${children.length} children.`]
      if (isDetached) return wrongDetached(what, step.status, children)
      return wrongAttached(what, { parent, children, rounds }, rules)
    }),
  )
  return summarised('family', wrong)
}

function wrongDetached(what: string, status: string, children: readonly RunFacts[]): readonly string[] {
  if (status === 'completed' && children.length === 0)
    return [`${what}, but its detached child does not exist.`]
  return children
    .filter((child) => child.status !== 'completed')
    .map((child) => `${what}, and its detached child ${child.id} is ${child.status} instead of completed.`)
}

function wrongAttached(
  what: string,
  family: { readonly parent: RunFacts; readonly children: readonly RunFacts[]; readonly rounds: number },
  { pivots }: Rules,
): readonly string[] {
  const { parent, children, rounds } = family
  if (!isTerminal(parent.status) || parent.stop === 'abandonment') return []
  const completed = children.filter(({ status }) => status === 'completed')
  const pivot = parent.steps.find(({ name }) => name === pivots[parent.workflow])
  const stays = parent.status === 'completed' || pivot?.status === 'completed'
  if (stays && completed.length !== rounds)
    return [`${what}, and ${completed.length} of its children are completed instead of ${rounds}.`]
  if (stays || completed.length === 0) return []
  return [`${what}, but its child ${completed[0]!.id} is completed: it was not undone with its parent.`]
}
