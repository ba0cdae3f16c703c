/**
 * | route | answer |
 * |---|---|
 * | `GET workers` | {@link WorkersPage} |
 * | `GET workers/:id/holds` | {@link Holds} |
 */
export interface WorkersPage {
  readonly readAt: number
  /** Of the first 1,000 that are registered. */
  readonly counts: WorkerCounts
  /** Those that need a look first: dead, silent, then live ones by name. Up to 200. */
  readonly workers: readonly Worker[]
  /** Versions that no live worker has handlers for, while runs of them wait. */
  readonly unserved: readonly UnservedVersion[]
}

export interface WorkerCounts {
  readonly live: number
  /** Its lease has ended, and nobody has declared it dead yet. */
  readonly expired: number
  readonly dead: number
  /** Of the live ones. */
  readonly slots: number
  readonly busy: number
  /** Nobody looked further. */
  readonly capped: boolean
}

export interface Worker {
  readonly id: string
  readonly name: string
  readonly host?: string | undefined
  readonly status: 'live' | 'expired' | 'dead'
  readonly startedAt?: number | undefined
  readonly renewedAt?: number | undefined
  readonly leaseExpiresAt?: number | undefined
  readonly slots?: number | undefined
  readonly busy?: number | undefined
  readonly workflows: readonly string[]
}

export interface UnservedVersion {
  readonly workflow: string
  readonly version: number
  readonly runs: number
  readonly oldest: number
  readonly remedy: string
  /** The query of Runs that lists them. */
  readonly query: string
}

/** Steps that a worker holds, the longest held first. */
export interface Holds {
  readonly readAt: number
  /** Up to 50. */
  readonly steps: readonly HeldStep[]
  readonly more: boolean
}

export interface HeldStep {
  readonly runId: string
  /** The run's key. */
  readonly key?: string | undefined
  readonly workflow: string
  readonly version: number
  readonly step: string
  readonly isUndo: boolean
  readonly attempt: number
  readonly since: number
}
