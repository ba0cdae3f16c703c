import type { LimitCircle, LimitRecord } from '../../adapter/index.ts'
import { counted } from '../../words.ts'
import type { FindingDraft } from './finding.ts'

/** What is wrong with a limit, if anything is. */
export function limitFindings(record: LimitRecord): readonly FindingDraft[] {
  const { name: limit, concurrency, inUse, waiting, rate, pushedBackUntil } = record
  if (waiting === 0 || inUse > 0) return []
  const who = `${counted(waiting, 'step')} wait${waiting === 1 ? 's' : ''} for limit "${limit}"`
  if (concurrency === 0) {
    const message = `${who}, which is set to 0: nobody enters.`
    const remedy = `Set limit "${limit}" to a higher ${rate === null ? 'number' : 'rate'}, or reset it to what its code declares.`
    // Only a limit that code declares can be set.
    const actions =
      record.declared === null ? [] : ([{ verb: 'limits.set' }, { verb: 'limits.reset' }] as const)
    return [{ type: 'closed_limit', limit, waiting, message, remedy, actions }]
  }
  // The next instant of a rate may be far away.
  if (rate !== null || pushedBackUntil !== null) return []
  const message = `${who}, of which no slot is taken although each key has ${concurrency}.`
  const remedy =
    'Look again in a few seconds: every worker with limits looks for such steps. If none has run, start a worker for their workflow; else report it.'
  return [{ type: 'stalled_limit', limit, waiting, message, remedy }]
}

/** Families that wait for themselves: every slot of a key is held by a run that waits for a child, and a child waits for a slot. */
export function circleFindings(
  limits: readonly LimitRecord[],
  circles: readonly LimitCircle[],
): readonly FindingDraft[] {
  const slots = new Map(
    limits.map(({ name, concurrency, rate }) => [name, rate === null ? concurrency : null]),
  )
  return circles.flatMap(({ runId, holderId, limit, key }): readonly FindingDraft[] => {
    const inLine = circles.filter((other) => other.limit === limit && other.key === key)
    const held = new Set(inLine.map((other) => other.holderId)).size
    if (held < (slots.get(limit) ?? Number.POSITIVE_INFINITY)) return []
    const message = `Run ${runId} waits for a slot of limit "${limit}"${ofKey(key)}, which run ${holderId} holds: its parent, or one above it, which waits until this run has ended.`
    const remedy = circleRemedy(limit)
    return [
      { type: 'limit_circle', limit, runId, holderId, message, remedy, actions: [{ verb: 'limits.set' }] },
    ]
  })
}

/** How a family stops waiting for itself. */
export function circleRemedy(limit: string): string {
  return `Raise limit "${limit}" for now, so that both have a slot; then give the child's workflow a limit or a key of its own, or only one of the two workflows the limit.`
}

function ofKey(key: string): string {
  return key === '' ? '' : ` for key "${key}"`
}
