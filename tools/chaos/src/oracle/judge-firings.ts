import { peaksOf } from '@belay/limits-soak/judge'
import { verdictOf } from '../schedules/verdict.ts'
import type { Facts } from './facts.ts'
import type { FlowRules } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/** Each time of the schedule that leaves none out has one run, each firing has a run of its own, and none runs beside another where that is not allowed. */
export function judgeFirings(facts: Facts, rules: FlowRules): readonly Violation[] {
  return [
    ...summarised('firings', [
      ...missedTimes(facts, rules),
      ...wrongRuns(facts),
      ...besideEachOther(facts, rules),
    ]),
    ...summarised('left_over', facts.leftovers),
  ]
}

function missedTimes(
  { runs, firings, schedules }: Facts,
  { ticking, eachSecond }: FlowRules,
): readonly string[] {
  const schedule = schedules.find(({ name }) => name === eachSecond)
  if (schedule === undefined) return []
  const { isGood, text } = verdictOf({
    runs: runs.flatMap(({ workflow, key }) =>
      workflow === ticking && key !== null && ofSchedule(key) === eachSecond ? [key] : [],
    ),
    firings: firings.filter(({ schedule: of, cause }) => of === eachSecond && cause === 'time'),
    ...{ from: schedule.from, to: schedule.to, schedules: 1 },
  })
  return isGood ? [] : [`The schedule ${eachSecond}: ${text}`]
}

function wrongRuns({ runs, firings }: Facts): readonly string[] {
  const ids = new Set(runs.map(({ id }) => id))
  const fired = new Map<string, string>()
  return firings.flatMap(({ schedule, key, cause, status, runId }) => {
    const what = `The firing ${key} of the schedule ${schedule} (${cause}, ${status})`
    if ((status === 'started') !== (runId !== null)) return [`${what} has the run ${runId}.`]
    if (status === 'failed') return [`${what} failed.`]
    if (runId === null || cause === 'backfill') return []
    const other = fired.get(runId)
    fired.set(runId, key)
    if (other !== undefined) return [`${what} has the run ${runId}, as the firing ${other} has.`]
    return ids.has(runId) ? [] : [`${what} has the run ${runId}, which does not exist.`]
  })
}

function besideEachOther({ runs, calls, firings }: Facts, { oneAtATime }: FlowRules): readonly string[] {
  // A backfill ignores what is live.
  const backfilled = new Set(firings.filter(({ cause }) => cause === 'backfill').map(({ runId }) => runId))
  return oneAtATime.flatMap((name) => {
    const own = new Map(
      runs
        .filter(({ key, id }) => key !== null && ofSchedule(key) === name && !backfilled.has(id))
        .map((run) => [run.id, run]),
    )
    const effects = calls.flatMap(({ runId, worker, beganAt, endedAt }) =>
      own.has(runId) && endedAt !== null
        ? [{ limit: name, key: '', runId, worker, fromMs: beganAt, toMs: endedAt }]
        : [],
    )
    return peaksOf(effects, 'call').flatMap(({ atOnce, atMs }) =>
      atOnce > 1 &&
      new Set(effects.filter(({ fromMs, toMs }) => fromMs <= atMs && toMs > atMs).map(({ runId }) => runId))
        .size > 1
        ? [`${atOnce} runs of the schedule ${name} were live at once, at ${new Date(atMs).toISOString()}.`]
        : [],
    )
  })
}

/** The name within `schedule:<name>:<instant>`, or of a trigger `schedule:<name>:<run>`. */
function ofSchedule(key: string): string | undefined {
  return /^schedule:(.*?):(?:\d{4}-\d\d-\d\dT.*|[0-9a-f-]{36})$/.exec(key)?.[1]
}
