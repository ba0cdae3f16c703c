import { checkDependencies, checkStepCount, checkStepName, duplicateStep } from '../graph/check.ts'
import { definitionError } from '../graph/place.ts'
import { chooseDraft } from './choose-draft.ts'
import { compileDefinition, type DefinitionHead } from './compile.ts'
import type { EndedRun, EndKind } from './end-options.ts'
import type { Handler, StepContext } from './handler.ts'
import { checkOptionNames } from './option-check.ts'
import {
  POLICY_OPTION_NAMES,
  type StepDraft,
  type StepPolicy,
  stepDraft,
  type UntypedStepOptions,
} from './step-draft.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** How a run ended, as the choice of its follow-up: the statuses, and a cancellation after which something was undone. */
export type EndCase = 'completed' | 'failed' | 'compensated' | 'cancelled' | 'cancelled_and_compensated'

const CASES: readonly EndCase[] = [
  'cancelled',
  'cancelled_and_compensated',
  'compensated',
  'completed',
  'failed',
]

/** The cases with which an end step of each kind runs; null for all. */
const CASES_OF: Readonly<Record<EndKind, readonly EndCase[] | null>> = {
  completed: ['completed'],
  failed: ['failed', 'compensated'],
  compensated: ['compensated', 'cancelled_and_compensated'],
  finally: null,
}

/** The choice in a follow-up, on which its end steps depend. */
const ENDED = 'ended'

/** What a follow-up run has as its input. */
export interface FollowUpInput extends EndedRun {
  readonly ended: EndCase
}

/** The name of the workflow of which the follow-ups of a workflow's runs are runs. No user can give a workflow such a name. */
function followUpName(workflow: string): string {
  return `${workflow}/ended`
}

const END_OPTION_NAMES = [
  'dependsOn',
  'onSkipped',
  'onFailure',
  'run',
  'transaction',
  ...POLICY_OPTION_NAMES,
] as const

/** End steps in the order of definition: each definition with more of them has its own list. */
export class EndStepList {
  readonly #head: DefinitionHead
  readonly #defaults: StepPolicy
  readonly #drafts: readonly StepDraft[]
  #compiled: WorkflowDefinition | undefined

  constructor(head: DefinitionHead, defaults: StepPolicy, drafts: readonly StepDraft[] = []) {
    this.#head = head
    this.#defaults = defaults
    this.#drafts = drafts
  }

  with(kind: EndKind, name: string, options: unknown): EndStepList {
    const { name: workflow } = this.#head
    checkStepName(workflow, name)
    if (name === ENDED) throw endedIsTaken(workflow)
    if (this.#drafts.some((draft) => draft.name === name)) throw duplicateStep(workflow, name)
    checkStepCount(workflow, this.#drafts.length + 2)
    const draft = endDraft({ workflow, step: name }, kind, options, this.#defaults)
    const own = draft.dependsOn.filter((dependency) => dependency !== ENDED)
    const names = this.#drafts.map((other) => other.name)
    const known = { has: (dependency: string) => names.includes(dependency), names: () => names }
    checkDependencies(workflow, { name, dependsOn: own }, known)
    return new EndStepList(this.#head, this.#defaults, [...this.#drafts, draft])
  }

  /** The definition of the follow-ups: a step that chooses how the run ended, and the end steps. On demand, as that of the workflow itself. */
  get definition(): WorkflowDefinition {
    this.#compiled ??= followUpDefinition(this.#head, this.#defaults, this.#drafts)
    return this.#compiled
  }
}

function endedIsTaken(workflow: string) {
  const step = { workflow, step: ENDED }
  return definitionError(
    step,
    'an end step cannot have this name: it is that of the step that tells how the run ended.',
  )
}

function endDraft(
  place: { readonly workflow: string; readonly step: string },
  kind: EndKind,
  options: unknown,
  defaults: StepPolicy,
): StepDraft {
  checkOptionNames(place, 'the end step', options, END_OPTION_NAMES)
  const given = options as unknown as UntypedStepOptions
  const cases = CASES_OF[kind]
  const when = cases === null ? undefined : { [ENDED]: cases }
  return stepDraft(place.workflow, place.step, { ...given, when, run: withEndedRun(given.run) }, defaults)
}

/** The handler gets the run that ended instead of the follow-up. */
function withEndedRun(handler: Handler | null): Handler | null {
  // A process that only starts runs has no handlers.
  if (handler === null) return null
  return (context: StepContext) => {
    const { ended: _, ...run } = context.input as FollowUpInput
    const { [ENDED]: __, ...deps } = context.deps
    // JSON has no undefined.
    const missing = { input: undefined, cause: undefined, key: undefined }
    return handler(Object.assign(context, missing, run, { deps }))
  }
}

function followUpDefinition(
  { name, version }: DefinitionHead,
  defaults: StepPolicy,
  drafts: readonly StepDraft[],
): WorkflowDefinition {
  const workflow = followUpName(name)
  const head: DefinitionHead = {
    ...{ name: workflow, version, schema: undefined, deadlineMs: null, priority: 0, start: null },
  }
  const on: Handler = ({ input }) => (input as FollowUpInput).ended
  const choice = chooseDraft({ workflow, step: ENDED }, { on, cases: CASES }, defaults)
  const compiled = compileDefinition(head, [choice, ...drafts])
  return Object.freeze({
    ...compiled,
    name: workflow,
    version,
    deadlineMs: null,
    priority: 0,
    followUp: null,
    validate: (input: unknown) => input,
  })
}
