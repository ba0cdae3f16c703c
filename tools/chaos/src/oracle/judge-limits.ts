import { fullestWindow, type HandlerCall, peaksOf } from '@belay/limits-soak/judge'
import { baseName } from './effect-keys.ts'
import type { CallFacts, Facts } from './facts.ts'
import type { FlowRules, RateRule, SlotRule } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/** No more handlers, or runs, are under way than a limit says, for any key. */
export function judgeSlots(facts: Facts, { slots }: Pick<FlowRules, 'slots'>): readonly Violation[] {
  const exceeded = slots.flatMap((rule) =>
    peaksOf(heldUnder(rule, facts), rule.of)
      .filter(({ atOnce }) => atOnce > rule.most)
      .map(
        ({ limit, key, atOnce, atMs }) =>
          `${atOnce} at once of the limit "${limit}" with the key "${key}", at ${new Date(atMs).toISOString()}: allowed are ${rule.most}.`,
      ),
  )
  return summarised('slots_exceeded', exceeded)
}

function heldUnder(rule: SlotRule, facts: Facts): readonly HandlerCall[] {
  const runs = new Map(
    facts.runs.filter(({ workflow }) => workflow === rule.workflow).map((run) => [run.id, run]),
  )
  return facts.calls.flatMap((call) => {
    const run = runs.get(call.runId)
    // An undo holds its run's slot, and enters no limits of its step.
    if (run === undefined || (call.undo && rule.of === 'call')) return []
    if (!rule.steps.includes(baseName(call.step)) || wasStoppedBefore(call, facts)) return []
    return [
      {
        limit: rule.limit,
        key: rule.key(run.input),
        runId: run.id,
        worker: call.worker,
        fromMs: call.beganAt,
        toMs: endOf(call, facts),
      },
    ]
  })
}

/** A handler's own end, or that of its process or of its lease: from then on, nothing that it does holds a slot. */
function endOf({ worker, beganAt, endedAt }: CallFacts, { lapses }: Facts): number {
  const over = (lapses.get(worker) ?? []).filter((at) => at >= beganAt)
  return Math.min(endedAt ?? Infinity, ...over)
}

/** A process that stood still between its answer and its handler: the order of effects judges what it does then. */
const JUST_BEFORE_MS = 1_000

function wasStoppedBefore({ worker, beganAt }: CallFacts, { freezes }: Facts): boolean {
  return (freezes.get(worker) ?? []).some(({ from, to }) => from <= beganAt && beganAt <= to + JUST_BEFORE_MS)
}

/** No more attempts that entered a rate have their instants in any window of its length than the rate allows. */
export function judgeRates({ entered }: Facts, { rates }: Pick<FlowRules, 'rates'>): readonly Violation[] {
  const exceeded = rates.flatMap((rate) => {
    const begun = new Map<string, HandlerCall>()
    for (const { limit, key, runId, step, fence, at } of entered) {
      const attempt = `${runId} ${step} ${fence}`
      // An attempt whose answer was lost enters again.
      if (limit === rate.name && !begun.has(attempt))
        begun.set(attempt, { limit, key, runId, worker: '', fromMs: at, toMs: at })
    }
    const attempts = [...begun.values()]
    const fullest = fullestWindow(attempts, rate.perMs)
    if (fullest <= allowedIn(rate)) return []
    return [
      `${fullest} attempts entered "${rate.name}" within ${rate.perMs} ms: allowed are ${allowedIn(rate)}. They entered at ${fullTimes(attempts, rate, fullest).join(', ')}.`,
    ]
  })
  return summarised('rate_exceeded', exceeded)
}

/** When those of the fullest window entered, and the one before them. */
function fullTimes(
  attempts: readonly HandlerCall[],
  { perMs }: RateRule,
  fullest: number,
): readonly string[] {
  const times = attempts.map(({ fromMs }) => fromMs).sort((one, other) => one - other)
  const last = times.findIndex((at, index) => at - times[index - fullest + 1]! < perMs)
  return times.slice(Math.max(0, last - fullest), last + 1).map((at) => new Date(at).toISOString())
}

/** What docs/flow-control.md says of the instants that are given. How late an attempt comes for its own depends on how long a server stands still. */
function allowedIn({ limit, burst }: RateRule): number {
  return limit + burst
}
