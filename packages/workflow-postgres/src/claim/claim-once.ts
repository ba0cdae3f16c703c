import type { Claim, NamesRefused } from '@belay/workflow/adapter'
import type { ClaimMarks, LookedAt } from '../rows/claim-marks.ts'
import { type ClaimAnswer, decodeQueued, type HeadRow } from '../rows/claim-row.ts'
import type { LeaseJournal } from '../rows/lease-journal.ts'

/** How long a claim that locks no step before it updates it waits for a locked step. After such a wait, claims skip locked steps for CAREFUL_MS. */
export const DIRECT_WAIT = '20ms'
const CAREFUL_MS = 10_000

export interface ClaimRequest extends NamesRefused {
  readonly workerId: string
  readonly definitionIds: readonly number[]
  readonly limit: number
  readonly undosOnly?: boolean
}

/** What a process remembers between claims. */
export interface ClaimMemory {
  readonly marks: ClaimMarks
  /** Those of hints of many items. */
  readonly itemMarks: ClaimMarks
  /** Those of claims of undos alone. */
  readonly undoMarks: ClaimMarks
  /** For each definition whether it has maps, once it was asked. */
  readonly mapped: Map<number, boolean>
  readonly journal: LeaseJournal
  readonly pace: ClaimPace
}

/** Chooses the way to claim: directly, unless a direct claim met a locked step recently. */
export class ClaimPace {
  #carefulUntil = Number.NEGATIVE_INFINITY
  #itemsCameFirst = false

  get isCareful(): boolean {
    return performance.now() < this.#carefulUntil
  }

  heldUp(): void {
    this.#carefulUntil = performance.now() + CAREFUL_MS
  }

  /** Each claim answers differently from the one before. */
  itemsComeFirst(): boolean {
    this.#itemsCameFirst = !this.#itemsCameFirst
    return this.#itemsCameFirst
  }
}

/** Sends one statement that claims, and notes what its answer says besides claims. `look` is how many hints it takes at most. */
export async function claimOnce(
  { workerId, definitionIds, limit }: ClaimRequest,
  { marks, journal, look }: Pick<ClaimMemory, 'marks' | 'journal'> & { readonly look: number },
  query: (lookedAt: LookedAt, trimmed: readonly string[]) => Promise<readonly ClaimAnswer[]>,
): Promise<
  | 'lost'
  | {
      readonly claims: readonly Claim[]
      readonly looked: number
      readonly kept: number
      readonly tookMs: number
    }
> {
  const marked = marks.begin(definitionIds)
  const rows = await query(marked, journal.takeEnded(workerId))
  const told: Claim[] = []
  let head: HeadRow | undefined
  for (const row of rows) {
    if (row.kind === 'head') head = row
    else told.push(...decodeQueued(row))
  }
  if (head?.live !== true) return 'lost'
  const claims = told.length === head.leased ? told : eachOnce(told)
  const isExhausted = head.looked < look && head.leased < limit && head.kept === 0
  marked.end({ ...head, dequeued: head.looked - head.kept, isExhausted })
  if (head.journal_id !== null) {
    journal.wrote(workerId, { id: head.journal_id, runIds: [...new Set(claims.map(({ runId }) => runId))] })
  }
  return { claims, looked: head.looked, kept: head.kept, tookMs: head.took_ms }
}

/** Two hints may name the same step. */
function eachOnce(claims: readonly Claim[]): readonly Claim[] {
  return [...new Map(claims.map((claim) => [`${claim.runId}/${claim.step}`, claim])).values()]
}
