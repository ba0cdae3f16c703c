import type { Claim, JsonText, UndoneStatus } from '@belay/workflow/adapter'

/**
 * Forward attempts of a step `s`. Null in rows written before attempts had a column: there the fence counted them, and began each round at a multiple
 * of this number.
 */
export const countedAttempts = 'coalesce(s.attempts, s.fence % 40000000)'

/** The columns of a step `s` that describe a claim, for the step's current direction. */
export const claimedColumns = `s.round,
    case when s.undo_of is null then ${countedAttempts} else s.undo_attempts end as attempt,
    case when s.undo_of is null then s.failures else s.undo_failures end as failures,
    case when s.undo_of is null then s.losses else s.undo_losses end as losses, s.undo_of`

/** What changes in a step `s` when a worker takes it from the queue, besides its status, fence and worker. */
export const begunAttempt = `attempts = case when s.undo_of is null then ${countedAttempts} + 1 else s.attempts end,
    started_at = case when s.undo_of is null then belay.store_now() else s.started_at end,
    finished_at = case when s.undo_of is not null then s.finished_at end,
    undo_attempts = case when s.undo_of is not null then s.undo_attempts + 1 end,
    undo_started_at = case when s.undo_of is not null then belay.store_now() end, undo_finished_at = null`

/** A row that describes a claim, with the columns of `Claim`. */
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
  /** Only in claims from the queue: how long the step had been due. */
  readonly waited_ms?: number | null
  /** Only in claims from the queue: whether the row includes the run's input. A large input is left out. */
  readonly has_input?: boolean
  readonly input?: string | null
}

/** The row about a claim as a whole. */
export interface HeadRow {
  readonly kind: 'head'
  readonly live: boolean
  /** Hints that were looked at, and how many of them stay in the queue. */
  readonly looked: number
  readonly kept: number
  readonly leased: number
  /** The journal row that names the runs; null when nothing was leased. */
  readonly journal_id: string | null
  /** The definitions whose hints were looked at, and for each the time up to which all due hints are done. Null when there were none. */
  readonly definition_ids: readonly number[] | null
  readonly marks: readonly number[] | null
  /** For each of them the time of the first hint. */
  readonly firsts: readonly number[] | null
  /** Entries of the queue's index that the server read, dead ones included. */
  readonly scanned: number | null
  /** The store's clock, in seconds of the epoch. */
  readonly now: number
  /** How long the server took to find and dequeue them, in milliseconds. */
  readonly took_ms: number
}

/** The first attempts of items of one run. `input`: JSON of {@link NewItemsOfRun}. */
interface NewItemsRow {
  readonly kind: 'items'
  readonly run_id: string
  readonly definition_id: number
  readonly has_input: boolean
  readonly input: string
}

interface NewItemsOfRun {
  readonly input: JsonText
  readonly items: NewItems
}

/** For each item its step, how long it had been due if it comes from the queue, and if it is not large its key and its value. */
export type NewItems = readonly (readonly [
  step: number,
  waitedMs?: number | null,
  key?: string,
  value?: JsonText,
])[]

export type ClaimAnswer = HeadRow | ({ readonly kind: 'claim' } & ClaimRow) | NewItemsRow

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
    waitedMs: row.waited_ms ?? undefined,
  }
}

/** The claim of a step's first attempt, forward. */
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

/** Claims from the queue, with the run's input if the row includes it. */
export function decodeQueued(row: Exclude<ClaimAnswer, HeadRow>): readonly Claim[] {
  if (row.kind === 'items') {
    const { input, items } = JSON.parse(row.input) as NewItemsOfRun
    return firstAttemptsOf(row, items, row.has_input ? input : undefined)
  }
  const claim = decodeClaim(row)
  return [row.has_input === true ? { ...claim, input: row.input ?? null } : claim]
}

/** The claims of the first attempts of items, all of one run. */
export function firstAttemptsOf(
  row: { readonly run_id: string; readonly definition_id: number },
  items: NewItems,
  input?: JsonText,
): readonly Claim[] {
  // One literal for each item, without a spread: there are thousands.
  return items.map(([step, waitedMs, key, value = null]) => ({
    runId: row.run_id,
    step,
    fence: 1,
    direction: 'forward',
    definitionId: row.definition_id,
    round: 1,
    attempt: 1,
    failures: 0,
    losses: 0,
    undoOf: null,
    input,
    item: key === undefined ? undefined : { key, value },
    waitedMs: waitedMs ?? undefined,
  }))
}
