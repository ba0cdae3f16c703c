import type { GraphStep } from '@belay/graph-view'
import type { Capped } from '../api.ts'

/**
 * | route | answer |
 * |---|---|
 * | `GET versions?after=…` | {@link VersionsPage}; after the workflow of that name |
 * | `GET versions/:workflow?from=…&to=…` | {@link VersionsDiff}; by default of the newest two |
 *
 * Runs are moved by a repair with the verb `move`, see `many.ts`.
 */
export interface VersionsPage {
  readonly readAt: number
  /** By name, up to 100. */
  readonly workflows: readonly WorkflowVersions[]
  readonly more: boolean
}

export interface WorkflowVersions {
  readonly name: string
  /** The newest first, up to 50. */
  readonly versions: readonly StoredVersion[]
  /** How many there are. */
  readonly stored: number
}

export interface StoredVersion {
  readonly version: number
  /** When it was first stored. */
  readonly createdAt: number
  /** Counting stops with the 1,000 oldest live runs of the workflow in each status. */
  readonly liveRuns: Capped
  /** Live workers that have its handlers: the names of the first 5. */
  readonly workers: { readonly count: number; readonly names: readonly string[] }
  /** This dashboard has its definition, so runs can be moved to it. */
  readonly isGiven: boolean
}

export interface VersionsDiff extends WorkflowVersions {
  readonly readAt: number
  /** Undefined if only one version is stored. */
  readonly from: VersionGraph | undefined
  readonly to: VersionGraph
  /** Moves the live runs of `from` in a shell. */
  readonly command?: string | undefined
}

export interface VersionGraph extends StoredVersion {
  readonly steps: readonly GraphStep[]
}
