import type { Facts } from './facts.ts'
import type { EffectRules } from './judge-effects.ts'
import { judgeEffects } from './judge-effects.ts'
import { judgeLedger, type LedgerRules } from './judge-ledger.ts'
import { judgePauses } from './judge-pauses.ts'
import { judgeRuns } from './judge-runs.ts'
import type { Violation } from './violation.ts'

export interface Judgement {
  readonly violations: readonly Violation[]
  /** Allowed exceptions, counted so that nobody overlooks them. */
  readonly exceptions: Readonly<Record<string, number>>
}

export interface Rules extends EffectRules, LedgerRules {}

/** Judges all that has happened: a pure function of the final state. */
export function judge(facts: Facts, rules: Rules): Judgement {
  const effects = judgeEffects(facts, rules)
  const pauses = judgePauses(facts)
  return {
    violations: [
      ...judgeRuns(facts),
      ...judgeLedger(facts, rules),
      ...effects.violations,
      ...pauses.violations,
    ],
    exceptions: { ...effects.exceptions, ...pauses.exceptions },
  }
}
