import { randomStart } from './collected.ts'
import { familyPlans, showsFamilies } from './families.ts'
import { type Flow, flowPlan } from './flow.ts'
import { leavingLimits, withLimits } from './limits.ts'
import { type Plan, randomPlan } from './plan.ts'
import { Random } from './random.ts'

/** The last digit of the seeds of worlds that collect starts. */
const COLLECTING = 3

interface Chances {
  readonly random: Random
  readonly limitsRandom: Random
  readonly flow: Flow
  readonly flowRandom: Random
}

/** The workflows of a world. */
export function worldPlans(
  seed: number,
  { random, limitsRandom, flow, flowRandom }: Chances,
): readonly Plan[] {
  if (showsFamilies(seed)) return familyPlans(random)
  const count = random.integer(1, 2)
  const plans = Array.from({ length: count }, (_, n) =>
    randomPlan(random.fork(), `w${n}`, n + 1 < count ? `w${n + 1}` : undefined),
  )
  const flowing = flowPlan(flow, flowRandom)
  return [
    ...leavingLimits(withLimits(plans, limitsRandom), new Random(seed ^ 0x5c1f)),
    // In a tenth of all worlds: those of the other seeds stay what they were.
    ...(seed % 10 === COLLECTING ? [collectingPlan(random.fork())] : []),
    ...(flowing === null ? [] : [flowing]),
  ]
}

function collectingPlan(random: Random): Plan {
  return { ...randomPlan(random, 'collected'), start: randomStart(random) }
}
