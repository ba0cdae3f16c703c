import { type MermaidOptions, toMermaid } from '../graph/mermaid.ts'
import { readOptions } from '../options/index.ts'
import { type CompiledDefinition, compileDefinition, type DefinitionHead } from './compile.ts'
import type { EndKind } from './end-options.ts'
import type { EndStepList } from './end-steps.ts'
import { validateInput } from './input-schema.ts'
import type { StartPolicy } from './start-policy.ts'
import { checkHandlers, type StepDraft } from './step-draft.ts'
import type { TypedDefinition } from './typed-definition.ts'
import type { ReceivesAnything } from './wait-options.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** A definition with end steps. Its shape says that it has some. */
export class EndedWorkflow implements TypedDefinition<string, unknown, unknown, ReceivesAnything> {
  readonly name: string
  readonly version: number
  readonly deadlineMs: number | null
  readonly priority: number
  readonly start: StartPolicy | null
  readonly #head: DefinitionHead
  readonly #drafts: readonly StepDraft[]
  readonly #ends: EndStepList
  #compiled: CompiledDefinition | undefined

  constructor(head: DefinitionHead, drafts: readonly StepDraft[], ends: EndStepList) {
    this.name = head.name
    this.version = head.version
    this.deadlineMs = head.deadlineMs
    this.priority = head.priority
    this.start = head.start
    this.#head = { ...head, endSteps: true }
    this.#drafts = drafts
    this.#ends = ends
    Object.freeze(this)
  }

  onCompleted(name: string, options: unknown): EndedWorkflow {
    return this.#with('completed', name, options)
  }

  onFailed(name: string, options: unknown): EndedWorkflow {
    return this.#with('failed', name, options)
  }

  onCompensated(name: string, options: unknown): EndedWorkflow {
    return this.#with('compensated', name, options)
  }

  finally(name: string, options: unknown): EndedWorkflow {
    return this.#with('finally', name, options)
  }

  #with(kind: EndKind, name: string, options: unknown): EndedWorkflow {
    checkHandlers({ workflow: this.name, step: name }, readOptions(options) ?? {})
    return new EndedWorkflow(this.#head, this.#drafts, this.#ends.with(kind, name, options))
  }

  get followUp(): WorkflowDefinition {
    return this.#ends.definition
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

  #compile(): CompiledDefinition {
    this.#compiled ??= compileDefinition(this.#head, this.#drafts)
    return this.#compiled
  }
}
