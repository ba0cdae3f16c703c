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

/** No more attempts enter a rate in any window of its length than docs/flow-control.md allows, by the clock of the database. */
export function judgeRates({ entered }: Facts, { rates }: Pick<FlowRules, 'rates'>): readonly Violation[] {
  const exceeded = rates.flatMap((rate) => {
    const begun = new Map<string, HandlerCall>()
    for (const { limit, key, runId, step, fence, at } of entered) {
      const attempt = `${runId} ${step} ${fence}`
      // An attempt whose answer was lost enters again.
      if (limit === rate.name && !begun.has(attempt))
        begun.set(attempt, { limit, key, runId, worker: '', fromMs: at, toMs: at })
    }
    const fullest = fullestWindow([...begun.values()], rate.perMs)
    if (fullest <= allowedIn(rate)) return []
    return [
      `${fullest} attempts entered "${rate.name}" within ${rate.perMs} ms: allowed are ${allowedIn(rate)}.`,
    ]
  })
  return summarised('rate_exceeded', exceeded)
}

/** An attempt may come late for its instant by a tenth of the time, from 50 to 500 ms. */
function allowedIn({ limit, perMs, burst }: RateRule): number {
  const lateMs = Math.min(500, Math.max(50, perMs / 10))
  return burst + Math.ceil((limit * (perMs + lateMs)) / perMs)
}
