import type { Facts } from './facts.ts'
import { judgeCalls } from './judge-calls.ts'
import { judgeEffects } from './judge-effects.ts'
import { judgeEnds } from './judge-ends.ts'
import { judgeFamilies } from './judge-families.ts'
import { judgeFirings } from './judge-firings.ts'
import { judgeLedger } from './judge-ledger.ts'
import { judgeRates, judgeSlots } from './judge-limits.ts'
import { judgeOrder } from './judge-order.ts'
import { judgePauses } from './judge-pauses.ts'
import { judgeResults } from './judge-results.ts'
import { judgeRuns } from './judge-runs.ts'
import type { Rules } from './rules.ts'
import type { Violation } from './violation.ts'

export interface Judgement {
  readonly violations: readonly Violation[]
  /** Allowed exceptions, counted so that nobody overlooks them. */
  readonly exceptions: Readonly<Record<string, number>>
}

/** Judges all that has happened: a pure function of the final state. */
export function judge(facts: Facts, rules: Rules): Judgement {
  const effects = judgeEffects(facts, rules)
  const pauses = judgePauses(facts)
  const results = judgeResults(facts, rules)
  return {
    violations: [
      ...judgeRuns(facts, rules.flow),
      ...judgeLedger(facts, rules),
      ...effects.violations,
      ...judgeSlots(facts, rules.flow),
      ...judgeRates(facts, rules.flow),
      ...judgeCalls(facts, rules.flow),
      ...judgeFirings(facts, rules.flow),
      ...pauses.violations,
      ...judgeOrder(facts, rules),
      ...judgeFamilies(facts, rules),
      ...judgeEnds(facts, rules),
      ...results.violations,
    ],
    exceptions: { ...effects.exceptions, ...pauses.exceptions, ...results.exceptions },
  }
}
