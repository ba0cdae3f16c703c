import type { LimitRecord } from '../../adapter/index.ts'
import { counted } from '../../words.ts'
import type { Finding } from './finding.ts'

/** What is wrong with a limit, if anything is. */
export function limitFindings({ name: limit, concurrency, inUse, waiting }: LimitRecord): readonly Finding[] {
  if (waiting === 0 || inUse > 0) return []
  const who = `${counted(waiting, 'step')} wait${waiting === 1 ? 's' : ''} for limit "${limit}"`
  if (concurrency === 0) {
    const message = `${who}, which is set to 0: nobody enters.`
    const remedy = `Call engine.limits.set('${limit}', …) with a higher number, or engine.limits.reset('${limit}').`
    return [{ type: 'closed_limit', limit, waiting, message, remedy }]
  }
  const message = `${who}, of which no slot is taken although each key has ${concurrency}.`
  const remedy =
    'Look again in a few seconds: every worker with limits looks for such steps. If none has run, start a worker for their workflow; else report it.'
  return [{ type: 'stalled_limit', limit, waiting, message, remedy }]
}
