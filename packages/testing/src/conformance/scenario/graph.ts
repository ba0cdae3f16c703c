import type { DefinitionRecord, SavedDefinition, StepShape } from '@belay/workflow/adapter'

/** Each step and its dependencies, in topological order. */
export type Edges = Readonly<Record<string, readonly string[]>>

/** The kinds of some steps, by name. */
export type Kinds = Readonly<Record<string, NonNullable<StepShape['kind']>>>

/** What some shapes say besides, by step. */
export type Conditions = Readonly<
  Record<
    string,
    Partial<Pick<StepShape, 'cases' | 'when' | 'onSkipped' | 'onFailure' | 'pivot' | 'irreversible'>>
  >
>

/** A definition's record. Its checksum, which lists the steps, is only good for tests. */
export function definitionRecord(
  name: string,
  edges: Edges,
  version = 1,
  kinds: Kinds = {},
  conditions: Conditions = {},
  endSteps?: true,
): DefinitionRecord {
  const names = Object.keys(edges)
  const steps = names.map((step) => ({
    name: step,
    dependsOn: edges[step]!.map((dependency) => names.indexOf(dependency)).sort((one, other) => one - other),
    compensate: 'completed' as const,
    ...(kinds[step] === undefined ? {} : { kind: kinds[step] }),
    ...conditions[step],
  }))
  return {
    name,
    version,
    checksum: JSON.stringify(edges).slice(0, 200),
    shape: endSteps ? { steps, endSteps } : { steps },
  }
}

export const DIAMOND: Edges = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }
export const PAIR: Edges = { a: [], b: ['a'] }

/** s0 → s1 → … */
export function chainEdges(length: number): Edges {
  const entries = Array.from({ length }, (_, n) => [`s${n}`, n === 0 ? [] : [`s${n - 1}`]] as const)
  return Object.fromEntries(entries)
}

/** root → s0 … sN → sink */
export function fanEdges(width: number): Edges {
  const names = Array.from({ length: width }, (_, n) => `s${n}`)
  const middle = names.map((name) => [name, ['root']] as const)
  return { root: [], ...Object.fromEntries(middle), sink: names }
}

/** s0 … sN, without dependencies */
export function looseEdges(width: number): Edges {
  return Object.fromEntries(Array.from({ length: width }, (_, n) => [`s${n}`, []]))
}

/** A stored definition. */
export class Graph {
  readonly saved: SavedDefinition

  constructor(saved: SavedDefinition) {
    this.saved = saved
  }

  get id(): number {
    return this.saved.id
  }

  get name(): string {
    return this.saved.name
  }

  nameOf(step: number): string {
    return this.saved.shape.steps[step]!.name
  }

  numberOf(name: string): number {
    const step = this.saved.shape.steps.findIndex((shape) => shape.name === name)
    if (step < 0) throw new Error(`The graph ${this.name} has no step ${name}.`)
    return step
  }

  dependents(step: number): readonly number[] {
    return this.saved.shape.steps.flatMap(({ dependsOn }, number) =>
      dependsOn.includes(step) ? [number] : [],
    )
  }
}
