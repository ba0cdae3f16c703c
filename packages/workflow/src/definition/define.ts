import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from '../duration.ts'
import {
  checkDependencies,
  checkStepCount,
  checkStepName,
  checkWorkflowName,
  duplicateStep,
} from '../graph/check.ts'
import { type MermaidOptions, toMermaid } from '../graph/mermaid.ts'
import { definitionError } from '../graph/place.ts'
import { childDraft } from './child-draft.ts'
import { childLoopDrafts, isChildLoop } from './child-loop-draft.ts'
import { chooseDraft } from './choose-draft.ts'
import { type CompiledDefinition, compileDefinition, type DefinitionHead, definitionHead } from './compile.ts'
import { checkCases } from './condition.ts'
import { EndStepList } from './end-steps.ts'
import { EndedWorkflow } from './ended-workflow.ts'
import { fanDrafts, isFan } from './fan-draft.ts'
import { validateInput } from './input-schema.ts'
import { concurrencyLimits } from './limit.ts'
import type { WorkflowLimitOptions } from './limit-options.ts'
import { loopDrafts } from './loop-draft.ts'
import { mapDrafts } from './map-draft.ts'
import { checkOptionNames } from './option-check.ts'
import {
  checkStepOptions,
  DEFAULT_POLICY,
  itemOf,
  POLICY_OPTION_NAMES,
  type StepDraft,
  type StepPolicy,
  stepDraft,
  stepPolicy,
} from './step-draft.ts'
import type { StepDefaults } from './step-options.ts'
import type { StorableSchema } from './storable.ts'
import type { Stored } from './stored.ts'
import type { TypedDefinition } from './typed-definition.ts'
import type { Workflow } from './typed-workflow.ts'
import { pollDraft, signalDraft, sleepDraft, type WaitPlace } from './wait-draft.ts'
import type { ReceivesAnything } from './wait-options.ts'

/** What `define()` takes. `retry`, `timeout` and `lossesMax` are the defaults of all steps. */
export interface DefineOptions<Schema extends StandardSchemaV1>
  extends StepDefaults,
    WorkflowLimitOptions<Stored<StandardSchemaV1.InferOutput<Schema>>> {
  /** A whole number from 1. Raise it whenever steps or dependencies change: a run keeps the version it was started with. */
  readonly version: number
  /** Any Standard Schema (zod, valibot, arktype…), or `unchecked<Type>()`. Default: any JSON value, of type `unknown`. */
  readonly input?: (Schema & StorableSchema<Schema>) | undefined
  /** How long a run may take from its start. A run that takes longer fails with cause `deadline` and is undone. Default: no limit. */
  readonly deadline?: Duration | undefined
}

/**
 * Begins a definition; add steps with `.step()`.
 *
 * @throws DefinitionError for an invalid name, version or option.
 */
export function define<const Name extends string, Schema extends StandardSchemaV1 = StandardSchemaV1>(
  name: Name,
  options: DefineOptions<Schema>,
): Workflow<
  Name,
  StandardSchemaV1.InferInput<Schema>,
  Readonly<Record<never, never>>,
  Stored<StandardSchemaV1.InferOutput<Schema>>
> {
  checkWorkflowName(name)
  const place = { workflow: name }
  checkOptionNames(place, 'the definition', options, DEFINE_OPTION_NAMES)
  const limits = concurrencyLimits(place, options.concurrency, { of: 'run' })
  const head = definitionHead(name, { ...options, limits })
  return new DefinedWorkflow(head, stepPolicy(place, options, DEFAULT_POLICY), new StepLog(), 0) as never
}

const DEFINE_OPTION_NAMES = ['version', 'input', 'deadline', 'concurrency', ...POLICY_OPTION_NAMES]

/**
 * Steps in the order of definition, shared by a definition and the definitions made from it. Each definition is a prefix of the log. Copying the
 * steps at every `.step()` would take quadratic time.
 */
class StepLog {
  readonly drafts: StepDraft[] = []
  readonly #positions = new Map<string, number>()

  /** A log with the same first `length` steps, to which a step can be added. */
  continuedFrom(length: number): StepLog {
    if (this.drafts.length === length) return this
    const branch = new StepLog()
    for (let position = 0; position < length; position++) branch.add(this.drafts[position]!)
    return branch
  }

  /** The step that decides a map's items, or begins a loop, cannot be named by others. */
  add(draft: StepDraft): void {
    if (itemOf(draft) === undefined) this.#positions.set(draft.name, this.drafts.length)
    this.drafts.push(draft)
  }

  /** Tells whether one of the first `length` steps has this name. */
  has(name: string, length: number): boolean {
    return this.find(name, length) !== undefined
  }

  find(name: string, length: number): StepDraft | undefined {
    const position = this.#positions.get(name)
    return position !== undefined && position < length ? this.drafts[position] : undefined
  }
}

class DefinedWorkflow implements TypedDefinition<string, unknown, unknown, ReceivesAnything> {
  readonly name: string
  readonly version: number
  readonly deadlineMs: number | null
  readonly #head: DefinitionHead
  readonly #defaults: StepPolicy
  readonly #log: StepLog
  readonly #length: number
  #compiled: CompiledDefinition | undefined

  constructor(head: DefinitionHead, defaults: StepPolicy, log: StepLog, length: number) {
    this.name = head.name
    this.version = head.version
    this.deadlineMs = head.deadlineMs
    this.#head = head
    this.#defaults = defaults
    this.#log = log
    this.#length = length
    Object.freeze(this)
  }

  step(name: string, options: unknown): DefinedWorkflow {
    return this.#with(name, (place) => {
      checkStepOptions(place, options)
      return stepDraft(place.workflow, name, options, this.#defaults)
    })
  }

  sleep(name: string, options: unknown): DefinedWorkflow {
    return this.#with(name, (place) => sleepDraft(place, options, this.#defaults))
  }

  waitForSignal(name: string, options: unknown = {}): DefinedWorkflow {
    return this.#with(name, (place) => signalDraft(place, 'signal', options, this.#defaults))
  }

  approval(name: string, options: unknown = {}): DefinedWorkflow {
    return this.#with(name, (place) => signalDraft(place, 'approval', options, this.#defaults))
  }

  poll(name: string, options: unknown): DefinedWorkflow {
    return this.#with(name, (place) => {
      const draft = pollDraft(place, options, this.#defaults)
      if (draft.run !== null) return draft
      throw definitionError(place, 'until is null, and must be a function that checks.')
    })
  }

  map(name: string, options: unknown): DefinedWorkflow {
    return this.#withAll(name, (place) => mapDrafts(place, options, this.#defaults))
  }

  workflow(name: string, child: unknown, options: unknown = {}): DefinedWorkflow {
    return this.#withAll(name, (place) =>
      isFan(options)
        ? fanDrafts(place, child, options, this.#defaults)
        : [childDraft(place, child, options, this.#defaults)],
    )
  }

  repeat(name: string, given: unknown, options?: unknown): DefinedWorkflow {
    return this.#withAll(name, (place) =>
      isChildLoop(given, options)
        ? childLoopDrafts(place, given, options ?? {}, this.#defaults)
        : loopDrafts(place, given, this.#defaults),
    )
  }

  choose(name: string, options: unknown): DefinedWorkflow {
    return this.#with(name, (place) => {
      const draft = chooseDraft(place, options, this.#defaults)
      if (draft.run !== null) return draft
      throw definitionError(place, 'on is null, and must be a function that returns one of cases.')
    })
  }

  onCompleted(name: string, options: unknown): EndedWorkflow {
    return this.#ending().onCompleted(name, options)
  }

  onFailed(name: string, options: unknown): EndedWorkflow {
    return this.#ending().onFailed(name, options)
  }

  onCompensated(name: string, options: unknown): EndedWorkflow {
    return this.#ending().onCompensated(name, options)
  }

  finally(name: string, options: unknown): EndedWorkflow {
    return this.#ending().finally(name, options)
  }

  /** This definition, to which end steps are added. */
  #ending(): EndedWorkflow {
    return new EndedWorkflow(this.#head, this.#drafts(), new EndStepList(this.#head, this.#defaults))
  }

  get followUp() {
    return null
  }

  #with(name: string, draftOf: (place: WaitPlace) => StepDraft): DefinedWorkflow {
    return this.#withAll(name, (place) => [draftOf(place)])
  }

  #withAll(name: string, draftsOf: (place: WaitPlace) => readonly StepDraft[]): DefinedWorkflow {
    const workflow = this.name
    checkStepName(workflow, name)
    if (this.#log.has(name, this.#length)) throw duplicateStep(workflow, name)
    const place = { workflow, step: name }
    const drafts = draftsOf(place)
    const length = this.#length + drafts.length
    checkStepCount(workflow, length)
    const { dependsOn, when } = drafts[0]!
    if (when?.by === 'function' && when.run === null) {
      throw definitionError(place, 'when is null, and must be a function or the case of a choice.')
    }
    checkDependencies(
      workflow,
      { name, dependsOn },
      {
        has: (dependency) => this.#log.has(dependency, this.#length),
        names: () => this.#drafts().flatMap((step) => (itemOf(step) === undefined ? [step.name] : [])),
      },
    )
    checkCases(place, when, (choice) => this.#log.find(choice, this.#length))
    const log = this.#log.continuedFrom(this.#length)
    for (const draft of drafts) log.add(draft)
    return new DefinedWorkflow(this.#head, this.#defaults, log, length)
  }

  get steps() {
    return this.#compile().steps
  }

  get graph() {
    return this.#compile().graph
  }

  get record() {
    return this.#compile().record
  }

  get runnable() {
    return this.#compile().runnable
  }

  validate(input: unknown): unknown {
    return validateInput(this.name, this.#head.schema, input)
  }

  toMermaid(options?: MermaidOptions): string {
    return toMermaid(this, options)
  }

  // On demand: in a chain of `.step()` calls, only the last definition needs its graph.
  #compile(): CompiledDefinition {
    this.#compiled ??= compileDefinition(this.#head, this.#drafts())
    return this.#compiled
  }

  #drafts(): readonly StepDraft[] {
    return this.#log.drafts.slice(0, this.#length)
  }
}
