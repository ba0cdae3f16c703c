import type { Claimed } from '@belay/workflow/adapter'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { claimApart, mayBeOfRow } from './claim-apart.ts'
import { claimStepsDirectly } from './claim-directly.ts'
import { type ClaimMemory, type ClaimRequest, claimOnce, DIRECT_WAIT } from './claim-once.ts'
import { claimRanges, withMaps } from './claim-ranges.ts'
import { claimSteps, claimUndos } from './claim-steps.ts'

// Stale hints of stopped runs and locked steps must not hide the work behind them: after a look that met some, the next look takes four times as many
// rows.
const LOOK_MIN = 200
const LOOK_GROWTH = 4
const LOOK_MAX = 2_000
// After this, the rest is left to the next claim.
const ROUNDS_MAX = 10
const CLAIM_MS_MAX = 250

/**
 * Claims from the queue, and items of maps by hints of many at once. Whichever comes first could take all the room, so they take turns at it. Workers
 * without maps ask the queue alone.
 */
export async function claim(
  connection: Connection,
  request: ClaimRequest,
  memory: ClaimMemory,
): Promise<Claimed | 'lost'> {
  const apart = async (
    source: Parameters<typeof claimApart>[3],
    wanted: ClaimRequest,
    work: () => Promise<Claimed | 'lost'>,
  ) => {
    try {
      return await work()
    } catch (error) {
      if (!mayBeOfRow(error)) throw error
      const found = await claimApart(connection, wanted, memory, source)
      if (found === 'lost') memory.journal.forget(request.workerId)
      return found
    }
  }
  if (request.undosOnly === true)
    return apart('undos', request, () => claimQueuedUndos(connection, request, memory))
  const mapped = await withMaps(connection, request.definitionIds, memory)
  const queued = (wanted: ClaimRequest) =>
    apart('steps', wanted, () => claimQueued(connection, wanted, memory))
  if (mapped.length === 0) return queued(request)
  const ranged = (wanted: ClaimRequest) =>
    apart('items', wanted, () => claimRanges(connection, wanted, memory))
  const sources = [
    (limit: number) => queued({ ...request, limit }),
    (limit: number) => ranged({ ...request, definitionIds: mapped, limit }),
  ]
  const claims: Claimed['claims'][number][] = []
  let more = false
  for (const source of memory.pace.itemsComeFirst() ? sources.reverse() : sources) {
    if (claims.length >= request.limit) return { claims, more: true }
    const found = await source(request.limit - claims.length)
    if (found === 'lost') return 'lost'
    claims.push(...found.claims)
    more ||= found.more
  }
  return { claims, more }
}

async function claimQueuedUndos(
  connection: Connection,
  request: ClaimRequest,
  { journal, undoMarks: marks }: ClaimMemory,
): Promise<Claimed | 'lost'> {
  const { workerId, limit } = request
  const found = await claimOnce(request, { journal, marks, look: limit }, (at, trimmed) => {
    const values = [workerId, at.definitionIds, limit, at.since, limit, trimmed, at.minutes]
    return connection.query(claimUndos, values)
  })
  if (found !== 'lost') return { claims: found.claims, more: false }
  journal.forget(workerId)
  return 'lost'
}

async function claimQueued(
  connection: Connection,
  request: ClaimRequest,
  memory: ClaimMemory,
): Promise<Claimed | 'lost'> {
  const claims: Claimed['claims'][number][] = []
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
    return await claimOnce(request, { ...memory, look: request.limit }, (at, trimmed) => {
      const { workerId, limit } = request
      const values = [workerId, at.definitionIds, limit, at.since, trimmed, DIRECT_WAIT, at.minutes]
      return connection.query(claimStepsDirectly, values)
    })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    memory.pace.heldUp()
    return undefined
  }
}

function claimCarefully(connection: Connection, request: ClaimRequest, look: number, memory: ClaimMemory) {
  return claimOnce(request, { ...memory, look }, (at, trimmed) => {
    const { workerId, limit } = request
    return connection.query(claimSteps, [
      workerId,
      at.definitionIds,
      limit,
      at.since,
      look,
      trimmed,
      at.minutes,
    ])
  })
}
