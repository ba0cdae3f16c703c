import type { Claimed } from '@belay/workflow/adapter'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { RANGE_ITEMS_MAX } from '../rows/item-rows.ts'
import { claimItems, findMapped, unpackRanges } from './claim-items.ts'
import { type ClaimMemory, type ClaimRequest, claimOnce, DIRECT_WAIT } from './claim-once.ts'

// A look locks more hints than it needs if they hint at many items, and fewer than it needs if they hint at few: then another look follows.
const LOOK_MIN = 8
const ROUNDS_MAX = 10

/** Those of the definitions that have maps. Each is asked for once in a process: definitions never change. */
export async function withMaps(
  connection: Connection,
  definitionIds: readonly number[],
  { mapped }: Pick<ClaimMemory, 'mapped'>,
): Promise<readonly number[]> {
  const unknown = definitionIds.filter((id) => !mapped.has(id))
  if (unknown.length > 0) {
    const found = new Set((await connection.query(findMapped, [unknown])).map(({ definition_id: id }) => id))
    for (const id of unknown) mapped.set(id, found.has(id))
  }
  return definitionIds.filter((id) => mapped.get(id) === true)
}

/** Claims items of maps. Next to locked steps it claims none: then the hints become ones of single items, for the claims from the queue. */
export async function claimRanges(
  connection: Connection,
  request: ClaimRequest,
  memory: ClaimMemory,
): Promise<Claimed | 'lost'> {
  const claims: Claimed['claims'][number][] = []
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const limit = request.limit - claims.length
    const look = Math.max(LOOK_MIN, Math.ceil(limit / RANGE_ITEMS_MAX))
    if (memory.pace.isCareful) return { claims, more: await unpack(connection, request, look) }
    const found = await claimOnceDirectly(connection, { ...request, limit }, look, memory)
    if (found === 'lost') {
      memory.journal.forget(request.workerId)
      return 'lost'
    }
    if (found === 'held up') continue
    claims.push(...found.claims)
    if (claims.length >= request.limit) return { claims, more: true }
    if (found.looked < look) return { claims, more: false }
  }
  return { claims, more: true }
}

async function claimOnceDirectly(
  connection: Connection,
  request: ClaimRequest,
  look: number,
  memory: ClaimMemory,
) {
  const { workerId, limit } = request
  try {
    return await claimOnce(request, { ...memory, marks: memory.itemMarks, look }, (at, trimmed) => {
      const values = [workerId, at.definitionIds, limit, at.since, trimmed, DIRECT_WAIT, look, at.minutes]
      return connection.query(claimItems, values)
    })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    memory.pace.heldUp()
    return 'held up'
  }
}

/** Resolves to whether there was anything to unpack. */
async function unpack(
  connection: Connection,
  { workerId, definitionIds }: ClaimRequest,
  look: number,
): Promise<boolean> {
  const since = definitionIds.map(() => Number.NEGATIVE_INFINITY)
  const untilNow = definitionIds.map(() => 0)
  const [row] = await connection.query(unpackRanges, [workerId, definitionIds, since, look, untilNow])
  return row !== undefined && row.unpacked > 0
}
