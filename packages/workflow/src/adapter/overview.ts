import type { RunCount, RunCountRequest } from './run-conditions.ts'

/** The verbs that show a store as a whole. They lock nothing, and their cost depends on their limits, not on the history. */
export interface OverviewVerbs {
  /**
   * Every version of the workflows that come after one by name, each with its live runs, counted up to a limit: of each workflow and stored status, the
   * oldest. By name, in the order of code points, then highest version first. Reads all definitions.
   */
  listDefinitions(request: DefinitionsRequest): Promise<readonly ListedDefinition[]>

  /** Counts matching runs: one count or, with `byStatus`, one for each status that occurs. Reads a bounded number of matching runs. */
  countRuns(request: RunCountRequest): Promise<readonly RunCount[]>

  /**
   * Counts the steps and undos that a worker with their definition could claim now, up to a limit. Looks only at so many entries of the queue for each
   * definition, those that are claimed first, and leaves out those that the step's row does not confirm.
   */
  countReady(request: { readonly max: number }): Promise<ReadyCount>
}

/** What can be claimed now. Instants are epoch milliseconds, store clock. */
export interface ReadyCount {
  /** When this was read. */
  readonly at: number
  readonly steps: number
  /** There are, or may be, more. */
  readonly capped: boolean
  /** Since when the one of them that is due for longest is due. Null for none. */
  readonly oldestDueAt: number | null
}

/** Which stored definitions to list. */
export interface DefinitionsRequest {
  /** Only workflows whose name comes after this one, in the order of code points. Null for all. */
  readonly after: string | null
  /** The most workflows, each with all its versions. */
  readonly limit: number
  /** Of each workflow and stored status, only so many live runs are counted, oldest first. */
  readonly liveMax: number
}

/** A version of a workflow, as it is listed. */
export interface ListedDefinition {
  readonly name: string
  readonly version: number
  /** When it was first saved. Epoch milliseconds, store clock. */
  readonly createdAt: number
  /** How many runs of this version have not ended, among those that were counted. */
  readonly liveRuns: number
  /** The workflow has more live runs than were counted: this version may have more too. */
  readonly capped: boolean
}
