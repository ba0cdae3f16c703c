import type { ChangedRun, Claim, StoredRunStatus } from '@belay/workflow/adapter'
import { wholeMs } from '../rows/changed-run.ts'
import {
  type ClaimRow,
  decodeClaim,
  firstAttempt,
  firstAttemptsOf,
  type NewItems,
} from '../rows/claim-row.ts'

/** The answer of the statement that finishes attempts. */
export type FinishedRow =
  /** `numbers`: the positions of the settled ones; null if all were settled. */
  | { readonly kind: 'settled'; readonly numbers: readonly number[] | null }
  /** `numbers`: one step in each run. */
  | {
      readonly kind: 'first attempts'
      readonly run_ids: readonly string[]
      readonly numbers: readonly number[]
      readonly definition_id: number
    }
  | (ClaimRow & { readonly kind: 'claim' })
  /** `keys`: JSON of the first attempts of items of one run. */
  | { readonly kind: 'items'; readonly run_id: string; readonly definition_id: number; readonly keys: string }
  | { readonly kind: 'queued' }
  | FinishedRunsRow

/**
 * Runs of one definition with the same end. `keys`: JSON, one for each run, or null if none has one. `tags`: JSON, by run, for the runs that have
 * any.
 */
interface FinishedRunsRow {
  readonly kind: 'runs'
  readonly run_ids: readonly string[]
  readonly definition_id: number
  readonly status: StoredRunStatus
  readonly durations_ms: readonly number[]
  readonly keys: string | null
  readonly tags: string | null
  readonly reports_end: boolean | null
}

export interface Finished {
  /** Indexes of the outcomes that were recorded now. */
  readonly settled: readonly number[]
  readonly claims: readonly Claim[]
  readonly runs: readonly ChangedRun[]
  readonly queued: boolean
}

/** Decodes the answer for so many outcomes. */
export function decodeFinished(rows: readonly FinishedRow[], count: number): Finished {
  const claims: Claim[] = []
  const runs: ChangedRun[] = []
  let settled = Array.from({ length: count }, (_, index) => index)
  let queued = false
  for (const row of rows) {
    switch (row.kind) {
      case 'settled':
        if (row.numbers !== null) settled = row.numbers.map((position) => position - 1)
        break
      case 'first attempts':
        row.run_ids.forEach((runId, index) => {
          claims.push(firstAttempt(runId, row.numbers[index]!, row.definition_id))
        })
        break
      case 'claim':
        claims.push(decodeClaim(row))
        break
      case 'items':
        claims.push(...firstAttemptsOf(row, JSON.parse(row.keys) as NewItems))
        break
      case 'queued':
        queued = true
        break
      case 'runs':
        runs.push(...finishedRuns(row))
    }
  }
  return { settled, claims, runs, queued }
}

function finishedRuns(row: FinishedRunsRow): readonly ChangedRun[] {
  const { definition_id: definitionId, status } = row
  const keys = row.keys === null ? [] : (JSON.parse(row.keys) as readonly (string | null)[])
  const tags = row.tags === null ? {} : (JSON.parse(row.tags) as Readonly<Record<string, readonly string[]>>)
  return row.run_ids.map((runId, index) => {
    const durationMs = wholeMs(row.durations_ms[index]!)
    const run = { runId, definitionId, status, key: keys[index] ?? null, tags: tags[runId] ?? [], durationMs }
    return row.reports_end === true ? { ...run, reportsEnd: true } : run
  })
}
