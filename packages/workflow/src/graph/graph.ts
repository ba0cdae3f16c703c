/** A validated graph of steps, by number. Numbers are a topological order. */
export interface StepGraph {
  readonly size: number
  readonly names: readonly string[]
  /** For each step the steps it depends on, ascending. */
  readonly dependencies: readonly (readonly number[])[]
  /** For each step the steps that depend on it, ascending. */
  readonly dependents: readonly (readonly number[])[]
  /** The steps that depend on none, ascending. */
  readonly roots: readonly number[]
  numberOf(name: string): number | undefined
}
