import type { Claim, UndoneStatus } from '@belay/workflow/adapter'

/**
 * Forward attempts of a step `s`. Null in rows from before attempts were counted: there the fence counted them, from a multiple of this number
 * on in each round.
 */
export const countedAttempts = 'coalesce(s.attempts, s.fence % 40000000)'

/** What a claim says of a step `s`, in the direction in which it goes. */
export const claimedColumns = `s.round,
    case when s.undo_of is null then ${countedAttempts} else s.undo_attempts end as attempt,
    case when s.undo_of is null then s.failures else s.undo_failures end as failures,
    case when s.undo_of is null then s.losses else s.undo_losses end as losses, s.undo_of`

/** What changes in a step `s` when a worker takes it from the queue, beside its status, its fence and its worker. */
export const begunAttempt = `attempts = case when s.undo_of is null then ${countedAttempts} + 1 else s.attempts end,
    started_at = case when s.undo_of is null then belay.store_now() else s.started_at end,
    finished_at = case when s.undo_of is not null then s.finished_at end,
    undo_attempts = case when s.undo_of is not null then s.undo_attempts + 1 end,
    undo_started_at = case when s.undo_of is not null then belay.store_now() end, undo_finished_at = null`

/** A row that describes a claim; the columns of `Claim`. */
export interface ClaimRow {
  readonly run_id: string
  readonly step: number
  readonly fence: number
  readonly definition_id: number
  readonly round: number
  readonly attempt: number
  readonly failures: number
  readonly losses: number
  readonly undo_of: UndoneStatus | null
  /** Given by claims from the queue: whether the run's input, which is small, comes along. */
  readonly has_input?: boolean
  readonly input?: string | null
}

/** What a claim came to as a whole. */
export interface HeadRow {
  readonly kind: 'head'
  readonly live: boolean
  /** Hints that were looked at, and those of them that are left in the queue. */
  readonly looked: number
  readonly kept: number
  readonly leased: number
  /** The row of the journal that names the runs; null when nothing was leased. */
  readonly journal_id: string | null
  /** Of which definitions something was looked at, and up to when all that was due is done with. Null when nothing was. */
  readonly definition_ids: readonly number[] | null
  readonly marks: readonly number[] | null
  /** How long the server took to find and dequeue them. */
  readonly took_ms: number
}

export type ClaimAnswer = HeadRow | ({ readonly kind: 'claim' } & ClaimRow)

export function decodeClaim(row: ClaimRow): Claim {
  return {
    runId: row.run_id,
    step: row.step,
    fence: row.fence,
    direction: row.undo_of === null ? 'forward' : 'undo',
    definitionId: row.definition_id,
    round: row.round,
    attempt: row.attempt,
    failures: row.failures,
    losses: row.losses,
    undoOf: row.undo_of,
  }
}

/** The claim of a step that goes forward and was never attempted before. */
export function firstAttempt(runId: string, step: number, definitionId: number): Claim {
  return {
    runId,
    step,
    fence: 1,
    direction: 'forward',
    definitionId,
    round: 1,
    attempt: 1,
    failures: 0,
    losses: 0,
    undoOf: null,
  }
}

/** A claim from the queue, with the run's input where it comes along. */
export function decodeQueued(row: ClaimRow): Claim {
  const claim = decodeClaim(row)
  return row.has_input === true ? { ...claim, input: row.input ?? null } : claim
}
