import { BelayError, type BelayErrorCode } from '../../errors.ts'
import { reasonOf } from '../base/set-aside.ts'
import type { RunLookup } from '../runs/run-reference.ts'
import { FailedRuns } from './failed-runs.ts'

/** How far an action on many runs is. */
export interface BulkProgress {
  readonly matched: number
  readonly changed: number
  readonly refused: number
}

/** A run that the action did not change. */
export interface RefusedRun {
  readonly runId: string
  /** A sentence. */
  readonly why: string
  /** If its state does not allow the action, the sentence in two parts: what cannot be done and why, without its subject, and what to do about it. */
  readonly refusal: string | undefined
  readonly remedy: string | undefined
  /** `action_refused` for its state; else what the store answered about it. Undefined if a damaged row could not be read. */
  readonly code: BelayErrorCode | undefined
  /** The id of the run on which to call the same verb instead, if there is one: of a child that only its parent retries, the parent's. */
  readonly instead: string | undefined
}

/** Runs that were refused for the same reason. */
export interface BulkRefusal {
  /** What was said of the first of them, with `…` for its ids. */
  readonly why: string
  /** In its parts, as of a `RefusedRun`. */
  readonly refusal: string | undefined
  readonly remedy: string | undefined
  readonly code: BelayErrorCode | undefined
  readonly runIds: readonly string[]
  /** The runs on which to call the same verb instead, each once. */
  readonly instead: readonly string[]
}

/** The result of an action on many runs. */
export interface BulkResult {
  /** The number of runs found. */
  readonly matched: number
  /** The number of runs that the action changed, or would change in a dry run. */
  readonly changed: number
  /** The changed runs. */
  readonly runIds: readonly string[]
  /**
   * Runs that the action did not change, and why: their state does not allow it, only their parents can retry them, they cannot be read or changed, or
   * another transaction holds their rows.
   */
  readonly refused: readonly RefusedRun[]
  /** The same by reason, the most frequent first. */
  readonly refusals: readonly BulkRefusal[]
  /** References in a list to runs that do not exist: ids, or workflows and keys. */
  readonly unknown: readonly (string | { readonly workflow: string; readonly key: string })[]
  /** True when there are more runs than the limit, or when `signal` fired. */
  readonly more: boolean
}

/** What an action on many runs has come to. */
export class BulkResults {
  #matched = 0
  readonly #runIds: string[] = []
  readonly #failed = new FailedRuns()
  readonly #refused: RefusedRun[] = []
  readonly #unknown: (string | { readonly workflow: string; readonly key: string })[] = []

  get progress(): BulkProgress {
    return { matched: this.#matched, changed: this.#runIds.length, refused: this.#refused.length }
  }

  add(runId: string, changed: boolean): void {
    this.#matched += 1
    this.#failed.succeeded()
    if (changed) this.#runIds.push(runId)
  }

  refuse(runId: string, error: unknown): void {
    this.#matched += 1
    const { code, refusal, remedy, insteadOn: instead } = BelayError.is(error) ? error : {}
    this.#refused.push({ runId, why: reasonOf(error), refusal, remedy, code, instead })
  }

  /** Throws an error that is not about this run alone. */
  fail(runId: string, error: unknown): void {
    this.#failed.assertOfOne(error)
    this.refuse(runId, error)
  }

  miss(lookup: RunLookup): void {
    this.#unknown.push('runId' in lookup ? lookup.runId : lookup)
  }

  of(more: boolean): BulkResult {
    const [runIds, refused, unknown] = [this.#runIds, this.#refused, this.#unknown]
    const refusals = byReason(refused)
    return { matched: this.#matched, changed: runIds.length, runIds, refused, refusals, unknown, more }
  }
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

function byReason(refused: readonly RefusedRun[]): readonly BulkRefusal[] {
  const groups = new Map<string, RefusedRun[]>()
  for (const one of refused) {
    const reason = `${one.code} ${one.why.replaceAll(ID, '…')}`
    const group = groups.get(reason)
    if (group === undefined) groups.set(reason, [one])
    else group.push(one)
  }
  return [...groups.values()]
    .sort((one, other) => other.length - one.length)
    .map((group) => ({
      why: group[0]!.why.replaceAll(ID, '…'),
      refusal: group[0]!.refusal?.replaceAll(ID, '…'),
      remedy: group[0]!.remedy?.replaceAll(ID, '…'),
      code: group[0]!.code,
      runIds: group.map(({ runId }) => runId),
      instead: [...new Set(group.flatMap(({ instead }) => instead ?? []))],
    }))
}
