import type { WorkerCounts } from '../../../src/api/workers.ts'
import { counted, figure } from '../words.ts'

/** `5 workers live, 117 of 190 slots taken`. */
export function slotsWords({ live, slots, busy, capped }: WorkerCounts): string {
  if (live === 0) return 'No worker is live'
  const taken = slots === 0 ? '' : `, ${figure(busy)} of ${counted(slots, 'slot')} taken`
  return `${counted(live, 'worker')}${capped ? ' or more' : ''} live${taken}`
}
