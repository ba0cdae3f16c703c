import type { Claimed } from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { withSavepoints } from '../connection/savepoints.ts'
import { ClaimMarks } from '../rows/claim-marks.ts'
import { claimItems } from './claim-items.ts'
import { type ClaimMemory, type ClaimRequest, claimOnce, DIRECT_WAIT } from './claim-once.ts'
import { claimSteps, claimUndos } from './claim-steps.ts'
import { type Hint, lockHints, lockRanges, postponeHints, postponeRanges } from './postpone-hints.ts'

/** How long a hint is set aside whose step cannot be leased. Then it is tried again. */
const PAUSE_SECONDS = 60
/** The most hints that one claim sets aside. */
const ASIDE_MAX = 512
/** How often the head of a queue is looked at anew because it has moved. */
const LOOKS_MAX = 10

type Found = Awaited<ReturnType<typeof claimOnce>>
type Source = 'steps' | 'undos' | 'items'

/** Whether one row may be the reason why a claim failed. */
export function mayBeOfRow(error: unknown): boolean {
  return isOfStatement(error) && !isLockTimeout(error)
}

/**
 * Claims after a claim that failed: the row of one step may be damaged, or be refused for another reason. Each definition is asked alone, for fewer and
 * fewer steps, until the hint at the head of its queue is known to be the bad one. That hint is set aside for a minute, in the transaction that claims
 * past it: so nothing is set aside if the store refuses all claims, and a claim needs no list of bad steps.
 */
export async function claimApart(
  connection: Connection,
  request: ClaimRequest,
  memory: ClaimMemory,
  source: Source,
): Promise<Claimed | 'lost'> {
  const claims: Claimed['claims'][number][] = []
  const failures: unknown[] = []
  for (const definitionId of request.definitionIds) {
    const limit = request.limit - claims.length
    if (limit <= 0) break
    try {
      const of = { ...request, definitionIds: [definitionId], limit }
      const found = await claimOfDefinition(connection, of, memory, source)
      if (found === 'lost') return 'lost'
      claims.push(...found.claims)
    } catch (error) {
      if (!mayBeOfRow(error)) throw error
      failures.push(error)
    }
  }
  if (claims.length === 0 && failures.length > 0) throw failures[0]
  return { claims, more: claims.length > 0 && source !== 'undos' }
}

async function claimOfDefinition(
  connection: Connection,
  request: ClaimRequest,
  memory: ClaimMemory,
  source: Source,
): Promise<Found> {
  let failure: unknown
  for (let limit = request.limit; limit >= 1; limit >>= 1) {
    try {
      return await take(connection, { ...request, limit }, memory, source)
    } catch (error) {
      if (!mayBeOfRow(error)) throw error
      failure = error
    }
  }
  for (let hints = 1; hints <= ASIDE_MAX; hints *= 2) {
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      try {
        const found = await claimPast(connection, request, memory, { source, hints, failure })
        if (found !== 'moved') return found
      } catch (error) {
        if (!mayBeOfRow(error)) throw error
        break
      }
    }
  }
  throw failure
}

/**
 * Sets the first hints aside, and claims one step behind them. They are locked while a claim of the first step is tried once more: another claim may have
 * held the bad hint until now, so that a good one seemed to be the first. `'moved'`: it was so, and nothing is set aside.
 */
async function claimPast(
  connection: Connection,
  request: ClaimRequest,
  memory: ClaimMemory,
  { source, hints, failure }: { source: Source; hints: number; failure: unknown },
): Promise<Found | 'moved'> {
  const [lock, postpone] = source === 'items' ? [lockRanges, postponeRanges] : [lockHints, postponeHints]
  const one = { ...request, limit: 1 }
  let aside: readonly Hint[] = []
  const found = await connection
    .transaction(async (transaction) => {
      const values = [request.definitionIds, hints]
      const first = await transaction.query(lock, values)
      const claimed = await underSavepoint(transaction, (own) => take(own, one, memory, source))
      if (claimed !== undefined) return claimed
      aside = await transaction.query(postpone, [...values, PAUSE_SECONDS])
      if (!areSame(first, aside)) throw new HeadMoved()
      return take(transaction, one, memory, source)
    })
    .catch((error: unknown) => {
      if (error instanceof HeadMoved) return 'moved' as const
      throw error
    })
  if (found === 'moved') return found
  for (const runId of new Set(aside.map(({ run_id }) => run_id)))
    request.onRefused?.({ runId, error: failure })
  return found
}

/** Rolls the transaction back. */
class HeadMoved extends Error {}

/** What `work` resolves to; undefined if a row was refused. The transaction goes on either way. */
async function underSavepoint<Result>(
  transaction: Connection,
  work: (own: Connection) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await withSavepoints(transaction).transaction(work)
  } catch (error) {
    if (!mayBeOfRow(error)) throw error
    return undefined
  }
}

function areSame(some: readonly Hint[], others: readonly Hint[]): boolean {
  const names = (hints: readonly Hint[]) => hints.map(({ run_id, step }) => `${run_id} ${step}`).sort()
  return names(some).join() === names(others).join()
}

function take(
  connection: Connection,
  request: ClaimRequest,
  { journal }: ClaimMemory,
  source: Source,
): Promise<Found> {
  const { workerId, limit } = request
  const look = source === 'items' ? 1 : limit
  const marks = new ClaimMarks(source === 'undos' ? 'undos' : 'all')
  return claimOnce(request, { journal, marks, look }, ({ definitionIds, since, minutes }, trimmed) => {
    switch (source) {
      case 'steps':
        return connection.query(claimSteps, [workerId, definitionIds, limit, since, look, trimmed, minutes])
      case 'undos':
        return connection.query(claimUndos, [workerId, definitionIds, limit, since, look, trimmed, minutes])
      case 'items': {
        const values = [workerId, definitionIds, limit, since, trimmed, DIRECT_WAIT, look, minutes]
        return connection.query(claimItems, values)
      }
    }
  })
}
