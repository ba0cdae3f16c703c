import { readOptions } from '../options/index.ts'
import { draftChildLoop } from './child-loop-draft.ts'
import type { GraphParts } from './graph-condition.ts'
import { GRAPH_ROUNDS_OPTION_NAMES, graphRounds } from './graph-loop.ts'
import { GRAPH_CHILD_OPTION_NAMES, graphChildOptions } from './graph-wait.ts'
import { checkOptionNames } from './option-check.ts'
import type { StepDraft } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

type Untyped = Readonly<Record<string, unknown>>

/** Tells whether a step as data is a loop of children: it names a workflow, and says until when. */
export function isGraphChildLoop(step: unknown): step is Untyped {
  const given = readOptions(step)
  return given !== undefined && 'workflow' in given && 'until' in given
}

/** Checks a loop of children as data and completes it. */
export function graphChildLoopDrafts(
  place: WaitPlace,
  step: Untyped,
  parts: GraphParts,
): readonly StepDraft[] {
  checkOptionNames(place, 'the loop', step, [...GRAPH_CHILD_OPTION_NAMES, ...GRAPH_ROUNDS_OPTION_NAMES])
  const { until, first, roundsMax, delay, ...child } = step
  const loop = graphRounds(place, { until, first, roundsMax, delay }, parts.handler)
  return draftChildLoop(place, step['workflow'], graphChildOptions(place, child, parts), loop, parts.defaults)
}
