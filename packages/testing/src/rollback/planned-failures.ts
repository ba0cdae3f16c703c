import type { WorkflowDefinition } from '@belay/workflow'
import type { HandlerCall } from '../workflow/index.ts'
import type { StepEffect } from './effects-of-steps.ts'

export interface PlannedFailure {
  readonly step: string
  readonly failed: 'before' | 'after'
}

export interface FailuresParts {
  readonly definition: WorkflowDefinition
  /** Handlers that took effect in a run without a failure, in their order. */
  readonly performed: readonly HandlerCall[]
  readonly facts: ReadonlyMap<string, StepEffect>
  readonly comparedWorld: boolean
}

/** Each step once: of a map the last item, of a loop the last round, of a child its last step, so that as much as possible was done before. */
export function failuresOf(parts: FailuresParts): readonly PlannedFailure[] {
  const last = new Map<string, string>()
  for (const { step } of parts.performed) {
    const { group, name } = placeOf(step, parts.facts)
    // End steps run after the end of the run, so nothing undoes it then.
    if (parts.facts.has(name)) last.set(group, step)
  }
  const polls = parts.definition.steps.filter(({ wait }) => wait?.kind === 'poll').map(({ name }) => name)
  return [
    ...[...last.values()].flatMap((step) => waysToFail(step, parts)),
    ...polls.map((step): PlannedFailure => ({ step, failed: 'before' })),
  ]
}

function waysToFail(step: string, { facts, comparedWorld }: FailuresParts): readonly PlannedFailure[] {
  const { hasUndo, stays, isTransactional } = facts.get(placeOf(step, facts).name)!
  const before: PlannedFailure = { step, failed: 'before' }
  // Without a compensation, only the world can tell whether there was an effect.
  const isMeaningful = !stays && !isTransactional && (hasUndo || comparedWorld)
  return isMeaningful ? [before, { step, failed: 'after' }] : [before]
}

function placeOf(step: string, facts: ReadonlyMap<string, StepEffect>): { group: string; name: string } {
  const name = facts.has(step) ? step : step.replace(/\[.*\]$/s, '')
  const [workflow, own] = name.split('/')
  return { group: own === undefined ? name : `${workflow}/`, name }
}
