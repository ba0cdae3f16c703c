import type { Claim, Claimed } from '@belay/workflow/adapter'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { type ClaimAnswer, decodeQueued, type HeadRow } from '../rows/claim-row.ts'
import type { LeaseJournal } from '../rows/lease-journal.ts'
import { claimStepsDirectly } from './claim-directly.ts'
import type { ClaimMarks } from './claim-marks.ts'
import { claimSteps } from './claim-steps.ts'

// Stale hints of stopped runs and locked steps must not hide the work behind them: after a look that met some, the next look takes four times as many
// rows.
const LOOK_MIN = 200
const LOOK_GROWTH = 4
const LOOK_MAX = 2_000
// After this, the rest is left to the next claim.
const ROUNDS_MAX = 10
const CLAIM_MS_MAX = 250

// How long a direct claim waits for a locked step. After such a wait, claims skip locked steps for CAREFUL_MS.
const DIRECT_WAIT = '20ms'
const CAREFUL_MS = 10_000

interface ClaimRequest {
  readonly workerId: string
  readonly definitionIds: readonly number[]
  readonly limit: number
}

/** What a process remembers between claims. */
export interface ClaimMemory {
  readonly marks: ClaimMarks
  readonly journal: LeaseJournal
  readonly pace: ClaimPace
}

/** Chooses the way to claim: directly, unless a direct claim met a locked step recently. */
export class ClaimPace {
  #carefulUntil = Number.NEGATIVE_INFINITY

  get isCareful(): boolean {
    return performance.now() < this.#carefulUntil
  }

  heldUp(): void {
    this.#carefulUntil = performance.now() + CAREFUL_MS
  }
}

export async function claim(
  connection: Connection,
  request: ClaimRequest,
  memory: ClaimMemory,
): Promise<Claimed | 'lost'> {
  const claims: Claim[] = []
  let [look, tookMs, discarded] = [request.limit, 0, 0]
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const limit = request.limit - claims.length
    const found =
      (round === 0 ? await claimDirectly(connection, request, memory) : undefined) ??
      (await claimCarefully(connection, { ...request, limit }, look, memory))
    // If the worker was declared dead between two rounds, the sweep returns the claims of the earlier rounds.
    if (found === 'lost') {
      memory.journal.forget(request.workerId)
      return 'lost'
    }
    claims.push(...found.claims)
    tookMs += found.tookMs
    discarded += found.looked - found.kept - found.claims.length
    if (claims.length >= request.limit) return { claims, more: true }
    if (found.looked < look) return { claims, more: false }
    // All rows within the limit are locked: the worker looks again later, not at once.
    if (look >= LOOK_MAX && found.kept === found.looked) return { claims, more: false }
    if (tookMs > CLAIM_MS_MAX) break
    look = Math.max(limit, Math.min(LOOK_MAX, Math.max(LOOK_MIN, look * LOOK_GROWTH)))
  }
  // If nothing was claimed or discarded, another claim would find nothing either.
  return { claims, more: claims.length > 0 || discarded > 0 }
}

/** Resolves to undefined if a locked step was in the way: then nothing was claimed. */
async function claimDirectly(connection: Connection, request: ClaimRequest, memory: ClaimMemory) {
  if (memory.pace.isCareful) return undefined
  try {
    return await claimOnce(request, memory, (since, trimmed) => {
      const { workerId, definitionIds, limit } = request
      const values = [workerId, definitionIds, limit, since, trimmed, DIRECT_WAIT]
      return connection.query(claimStepsDirectly, values)
    })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    memory.pace.heldUp()
    return undefined
  }
}

function claimCarefully(connection: Connection, request: ClaimRequest, look: number, memory: ClaimMemory) {
  return claimOnce(request, memory, (since, trimmed) => {
    const { workerId, definitionIds, limit } = request
    return connection.query(claimSteps, [workerId, definitionIds, limit, since, look, trimmed])
  })
}

async function claimOnce(
  { workerId, definitionIds }: ClaimRequest,
  { marks, journal }: ClaimMemory,
  query: (since: readonly number[], trimmed: readonly string[]) => Promise<readonly ClaimAnswer[]>,
) {
  const marked = marks.begin(definitionIds)
  const rows = await query(marked.since, journal.takeEnded(workerId))
  const told: Claim[] = []
  let head: HeadRow | undefined
  for (const row of rows) {
    if (row.kind === 'head') head = row
    else told.push(...decodeQueued(row))
  }
  if (head?.live !== true) return 'lost'
  const claims = told.length === head.leased ? told : eachOnce(told)
  marked.end({ ...head, dequeued: head.looked })
  if (head.journal_id !== null) {
    journal.wrote(workerId, { id: head.journal_id, runIds: [...new Set(claims.map(({ runId }) => runId))] })
  }
  return { claims, looked: head.looked, kept: head.kept, tookMs: head.took_ms }
}

/** Two hints may name the same step. */
function eachOnce(claims: readonly Claim[]): readonly Claim[] {
  return [...new Map(claims.map((claim) => [`${claim.runId}/${claim.step}`, claim])).values()]
}
