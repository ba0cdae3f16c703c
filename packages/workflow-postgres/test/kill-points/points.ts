import type { Calls } from './killed.ts'

/** Called all the time, or without a lasting effect: all calls are alike, so the first one stands for all. */
const ALIKE = new Set([
  'open',
  'now',
  'renew',
  'upcoming',
  'sweep',
  'stopping',
  'held',
  'expireRuns',
  'readRun',
  'readStatuses',
  'findRun',
  'listRuns',
  'findRunEnds',
  'tendLimits',
  'observeRuns',
  'readSchedules',
])

/** Verbs that only read. A worker that dies right after a read loses the same as one that dies right before its next write. */
const READS = new Set([
  'open',
  'now',
  'upcoming',
  'held',
  'readRun',
  'readStatuses',
  'findRun',
  'listRuns',
  'findRunEnds',
  'observeRuns',
  'readSchedules',
])

/** Looks for drained runs and mostly finds none. Only the point after a call that found one matters. */
const MOSTLY_IN_VAIN = new Set(['drain'])

/**
 * `all`: before and after each call. `half`: a verb with many calls is killed alternately before one call and after the next. `some`: of those, every
 * eighth of each verb, from one on that SAMPLE chooses, and none of verbs that only read. So each verb that writes has one point at least, and the
 * frequent ones have points on both sides of a call.
 */
export type Share = 'all' | 'half' | 'some'

export function shareOf(wanted: string | undefined): Share {
  if (wanted === undefined) return 'some'
  if (wanted === 'all' || wanted === 'half' || wanted === 'some') return wanted
  throw new Error(`KILL_POINTS is all, half or some, not ${wanted}.`)
}

/** CI gives a number for each day. */
const SAMPLE = Number(process.env['SAMPLE'] ?? 0)

/** Where to kill a process that makes these calls. Without `all`, one of so many points of each verb. */
export function killPoints(
  { calls, finds }: Calls,
  share: Share,
  oneOf = share === 'some' ? 8 : 1,
): readonly string[] {
  const all = share === 'all'
  return Object.entries(calls).flatMap(([verb, count]) => {
    const found = finds[verb] ?? 0
    if (share === 'some' && READS.has(verb)) return []
    if (ALIKE.has(verb)) return all ? [`before ${verb} 1`, `after ${verb} 1`] : [`after ${verb} 1`]
    const before = numbers(MOSTLY_IN_VAIN.has(verb) ? 1 : count).map((nth) => ({ nth, when: 'before' }))
    const after = numbers(found).map((nth) => ({ nth, when: 'after' }))
    const takesTurns = !all && count > TURNS_FROM
    const within = numbers(verb === 'transact' ? count : 0).map((nth) => ({ nth, when: 'within' }))
    const points = [...before, ...within, ...after].filter(
      ({ nth, when }) => !takesTurns || when === 'within' || (nth % 2 === 0) === (when === 'before'),
    )
    const first = SAMPLE % Math.max(1, Math.min(oneOf, points.length))
    return points
      .filter((_, index) => all || index % oneOf === first)
      .map(({ nth, when }) => `${when} ${verb} ${nth}`)
  })
}

const TURNS_FROM = 5

/** What limits, priorities, collected starts and schedules are about. */
const FLOW_VERBS = new Set([
  'declareLimits',
  'claim',
  'settle',
  'pushBackLimits',
  'tendLimits',
  'changeRun',
  'collectCalls',
  'changeSchedules',
])

/** Each case waits for seconds to pass, and the other verbs are killed without flow control: fewer points, but all of them with `all`. */
export function flowKillPoints({ calls, finds }: Calls, share: Share): readonly string[] {
  if (share === 'all') return killPoints({ calls, finds }, share)
  const own = Object.fromEntries(Object.entries(calls).filter(([verb]) => FLOW_VERBS.has(verb)))
  return killPoints({ calls: own, finds }, share, share === 'half' ? 4 : 16)
}

/** The last calls that change something in a run: here completed and undone runs differ. */
export function lastKillPoints({ calls }: Calls, share: Share): readonly string[] {
  return ['settle', 'transact', 'load'].flatMap((verb) => {
    const count = calls[verb] ?? 0
    if (share === 'some') return [`after ${verb} ${count - 1}`]
    return [`before ${verb} ${count - 1}`, `after ${verb} ${count - 1}`, `after ${verb} ${count}`]
  })
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
