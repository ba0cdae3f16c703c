/** A validated graph of steps, by number. Numbers are a topological order. */
export interface StepGraph {
  readonly size: number
  readonly names: readonly string[]
  /** For each step, its dependencies, ascending. */
  readonly dependencies: readonly (readonly number[])[]
  /** For each step, its dependents, ascending. */
  readonly dependents: readonly (readonly number[])[]
  /** The steps without dependencies, ascending. */
  readonly roots: readonly number[]
  numberOf(name: string): number | undefined
}
