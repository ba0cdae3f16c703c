import type { TransactionOptions } from '../adapter/transaction.ts'
import { definitionError, type Place } from '../graph/place.ts'
import { Problems } from '../graph/problems.ts'
import type { DefinitionHead } from './compile.ts'
import type { EndKind } from './end-options.ts'
import { EndStepList } from './end-steps.ts'
import type { GraphParts } from './graph-condition.ts'
import { checkRecord } from './graph-record.ts'
import type { Handler } from './handler.ts'
import { checkOptionNames, oneOf } from './option-check.ts'
import { RETRY_OPTION_NAMES, type RetryOptions } from './retry-policy.ts'
import type { OnFailure } from './settled.ts'
import type { StepPolicy } from './step-draft.ts'
import type { StepDefaults } from './step-options.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** An end step of a graph as data. */
export interface GraphEndStep<HandlerName extends string = string>
  extends RetryOptions,
    Pick<StepDefaults, 'timeout' | 'lossesMax'> {
  /** The ends after which it runs, like `.onCompleted()`, `.onFailed()` and `.onCompensated()`; `any` like `.finally()`. */
  readonly after: 'completed' | 'failed' | 'compensated' | 'any'
  /** The name of the handler. It gets what the handlers of end steps get. */
  readonly handler: HandlerName
  /** Names of end steps that stand before it. */
  readonly dependsOn?: readonly string[] | undefined
  readonly onSkipped?: 'skip' | 'run' | undefined
  readonly onFailure?: OnFailure | undefined
  readonly transaction?: boolean | TransactionOptions | undefined
}

const END_OPTION_NAMES = [
  'after',
  'handler',
  'dependsOn',
  'onSkipped',
  'onFailure',
  'transaction',
  'timeout',
  'lossesMax',
  ...RETRY_OPTION_NAMES,
] as const

const KIND_OF: Readonly<Record<GraphEndStep['after'], EndKind>> = {
  completed: 'completed',
  failed: 'failed',
  compensated: 'compensated',
  any: 'finally',
}

/** The workflow of the follow-ups of a graph as data; null without end steps. Throws one error with all their problems. */
export function graphFollowUp(
  head: DefinitionHead,
  ends: unknown,
  parts: {
    readonly defaults: StepPolicy
    readonly handlerOf: (place: Place, option: string, name: unknown) => unknown
  },
): WorkflowDefinition | null {
  if (ends === undefined) return null
  const place = { workflow: head.name }
  checkRecord(place, 'ends', ends, 'one entry for each end step')
  const entries = Object.entries(ends)
  if (entries.length === 0) return null
  const problems = new Problems(head.name)
  let list = new EndStepList(head, parts.defaults)
  for (const [step, options] of entries) {
    problems.collect(() => {
      const handler: GraphParts['handler'] = (option, name) =>
        parts.handlerOf({ ...place, step }, option, name)
      list = withEndStep(list, { ...place, step }, { options, handler })
    })
  }
  problems.throwIfAny()
  return list.definition
}

function withEndStep(
  list: EndStepList,
  place: Place & { readonly step: string },
  { options, handler }: { readonly options: unknown; readonly handler: GraphParts['handler'] },
): EndStepList {
  checkOptionNames(place, 'the end step', options, END_OPTION_NAMES)
  const { after, handler: name, dependsOn, onSkipped, onFailure, ...others } = options
  const { transaction, timeout, lossesMax, ...retry } = others
  if (after === undefined) {
    throw definitionError(
      place,
      "an end step must have after: 'completed', 'failed', 'compensated' or 'any'.",
    )
  }
  const kind = KIND_OF[oneOf(place, 'after', after, ['completed', 'failed', 'compensated', 'any'])]
  const run = handler('handler', name) as Handler | null
  return list.with(kind, place.step, {
    dependsOn,
    onSkipped,
    onFailure,
    transaction,
    timeout,
    lossesMax,
    retry,
    run,
  })
}
