import type { WorkflowDefinition } from '@belay/workflow'

/** The versions of the world's workflows, by name and version. */
export class Definitions {
  readonly #definitions: readonly WorkflowDefinition[]

  constructor(definitions: readonly WorkflowDefinition[]) {
    this.#definitions = withFollowUps(definitions)
  }

  of({ workflow, version }: { readonly workflow: string; readonly version: number }): WorkflowDefinition {
    return this.#definitions.find((found) => found.name === workflow && found.version === version)!
  }

  versionsOf(workflow: string): readonly WorkflowDefinition[] {
    return this.#definitions.filter(({ name }) => name === workflow)
  }
}

/** The workflows, and those of their follow-ups. */
export function withFollowUps(definitions: readonly WorkflowDefinition[]): readonly WorkflowDefinition[] {
  return definitions.flatMap((one) => (one.followUp === null ? [one] : [one, one.followUp]))
}
