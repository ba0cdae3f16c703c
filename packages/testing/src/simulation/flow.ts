import {
  nextVersion,
  type Plan,
  type RunLimits,
  randomLoop,
  randomMap,
  randomStep,
  type Version,
} from './plan.ts'
import type { Random } from './random.ts'

/**
 * What a world shows of flow control besides limits of steps. By the last digit of its seed: the worlds of all other seeds are the same without it.
 * `rates`: steps, items and rounds under rates. `runs`: how many runs of a workflow go at once, and the limits of its items and rounds. `schedules`:
 * schedules start runs.
 */
export type Flow = 'rates' | 'runs' | 'schedules' | 'none'

export function flowOf(seed: number): Flow {
  return ({ 0: 'rates', 5: 'schedules', 6: 'runs' } as const)[seed % 10] ?? 'none'
}

/** The workflow under flow control. */
export const FLOW = 'flow'

/** How many runs of the workflow go at once, of each key, and how many of its attempts. */
const SLOTS = 2
/** The rate that several steps share. */
const SHARED_RATE = 'shared:rate'

/** Its workflow. Null for a world without flow control. */
export function flowPlan(flow: Flow, random: Random): Plan | null {
  if (flow === 'none') return null
  const temper = random.pick([
    { fails: 0, failsForGood: 0, hangs: 0, undoFailsForGood: 0 },
    { fails: 0.15, failsForGood: 0.03, hangs: 0.02, undoFailsForGood: 0.3 },
  ])
  const first = flow === 'schedules' ? scheduled(random) : limited(flow, random)
  const limits = flow === 'schedules' ? {} : limitsOfRuns(flow, random)
  const priority = random.pick([undefined, 1, 4])
  return { name: FLOW, versions: [first, nextVersion(first, random)], temper, limits, priority }
}

/** Short enough that some runs end before the next time, and some do not. */
function scheduled(random: Random): Version {
  return { steps: { s0: randomStep(random), s1: randomStep(random) }, dag: { s1: ['s0'] }, ends: {} }
}

/** A map, a loop and a step, one after the other or beside each other, each with limits of its own and one that it shares. */
function limited(flow: Flow, random: Random): Version {
  const rate = randomRate(random)
  const limits = () => {
    const key = random.chance(0.5) ? { key: 'limitKey' } : {}
    const own = flow === 'rates' ? { rateLimit: { ...randomRate(random), ...key } } : {}
    const shared = { rateLimit: { ...rate, name: SHARED_RATE } }
    const slots = { concurrency: [{ limit: SLOTS, ...key }] }
    return {
      ...(random.chance(0.6) ? slots : {}),
      ...(random.chance(0.5) ? own : flow === 'rates' ? shared : {}),
    }
  }
  const { concurrency: _, ...map } = randomMap(random)
  const steps = {
    s0: { ...map, ...limits() },
    s1: { ...randomLoop(random), ...limits() },
    s2: { ...randomStep(random), ...limits(), priority: random.pick([0, 2]) },
  }
  return { steps, dag: random.pick([{}, { s2: ['s0'] }, { s1: ['s0'], s2: ['s1'] }]), ends: {} }
}

/** From one every 100 ms to one every second, so that no backlog takes long. */
function randomRate(random: Random): { limit: number; per: number; burst: number } {
  return { limit: random.integer(2, 10), per: random.pick([1_000, 2_000]), burst: random.integer(1, 3) }
}

function limitsOfRuns(flow: Flow, random: Random): RunLimits {
  const key = random.chance(0.5) ? { key: 'limitKey' } : {}
  if (flow === 'runs') return { concurrency: { limit: SLOTS, ...key } }
  return random.chance(0.5) ? { rateLimit: { ...randomRate(random), ...key } } : {}
}
