import { readOptions } from '../options/index.ts'
import { draftFan, FAN_OPTION_NAMES } from './fan-draft.ts'
import type { GraphParts } from './graph-condition.ts'
import { GRAPH_CHILD_OPTION_NAMES, graphChildOptions } from './graph-wait.ts'
import { checkOptionNames } from './option-check.ts'
import type { StepDraft } from './step-draft.ts'
import type { WaitPlace } from './wait-draft.ts'

type Untyped = Readonly<Record<string, unknown>>

/** Tells whether a step as data is a fan of children: it names a workflow, and says over what. */
export function isGraphFan(step: unknown): step is Untyped {
  const given = readOptions(step)
  return given !== undefined && 'workflow' in given && 'over' in given
}

/** Checks a fan as data and completes it. */
export function graphFanDrafts(place: WaitPlace, step: Untyped, parts: GraphParts): readonly StepDraft[] {
  checkOptionNames(place, 'the fan', step, [...GRAPH_CHILD_OPTION_NAMES, ...FAN_OPTION_NAMES])
  const { over, itemKey, concurrency, itemsMax, minSuccess, ...child } = step
  const options = {
    ...graphChildOptions(place, child, parts),
    ...{ concurrency, itemsMax, minSuccess },
    over: parts.handler('over', over),
    itemKey: itemKey === undefined ? undefined : parts.handler('itemKey', itemKey),
  }
  return draftFan(place, step['workflow'], options, parts.defaults)
}
