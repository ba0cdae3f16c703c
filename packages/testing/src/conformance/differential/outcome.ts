import {
  type Claim,
  isItem,
  type Outcome,
  type SkipReason,
  type StepShape,
  type Wake,
} from '@belay/workflow/adapter'
import {
  compensated,
  completed,
  continued,
  decided,
  failed,
  parked,
  received,
  relayed,
  released,
  repeated,
  retry,
  skipped,
  waiting,
} from '../scenario/index.ts'
import { hasPivots, isRound, kindOf, pivotsBefore } from './graphs.ts'
import type { Random } from './random.ts'
import type { KnownAttempt, World } from './world.ts'

const DELAYS_MS = [0, 300, 3_000, 30_000]

/** What an attempt comes to: mostly something new, sometimes the same again. */
export function outcomeOf({ claim, settled }: KnownAttempt, world: World, random: Random): Outcome {
  if (settled !== undefined && random.chance(0.6)) return settled
  const signalled = world.signalled.has(`${claim.runId}/${claim.step}`)
  const graph = world.graphs.get(claim.runId)!
  const kind = kindOf(graph, claim.step)
  if (claim.direction === 'undo') return undoOutcome(claim, random, kind)
  const outcome = forwardOutcome(claim, random, signalled)
  const pivots = pivotsBefore(graph, claim.step)
  // These shapes say of no step that the run continues past it: after a pivot, any failure parks the run.
  if (outcome.type === 'failed' && hasPivots(graph))
    return pivots === undefined ? failed(claim) : ({ ...failed(claim), pivots } as Outcome)
  // Nothing skips one item.
  if (isItem(claim.step) && outcome.type === 'skipped') return completed(claim)
  if (isRound(graph, claim.step)) return ofRound(claim, outcome, random)
  if (kind !== 'map' && kind !== 'repeat') return outcome
  // A loop may fail to begin; a map that decides no items stops its run.
  if (outcome.type === 'failed') return kind === 'map' ? failed(claim) : outcome
  if (outcome.type !== 'completed') return outcome
  return kind === 'map' ? expanded(claim, random) : begun(claim, random)
}

function forwardOutcome(claim: Claim, random: Random, signalled: boolean): Outcome {
  const kind = random.weighted({
    ...{
      completed: 50,
      skipped: 6,
      decided: 5,
      failed: 5,
      continued: 6,
      retry: 13,
      released: 12,
      waiting: 12,
    },
  })
  if (kind === 'completed' && signalled) return received(claim)
  if (kind === 'completed') return completed(claim, random.chance(0.2) ? null : `${random.below(100)}`)
  if (kind === 'skipped') return skipped(claim, skipReason(claim))
  if (kind === 'decided') return decided(claim)
  if (kind === 'failed') return failed(claim, `broken ${random.below(100)}`)
  if (kind === 'continued') return continued(claim, `past ${random.below(100)}`)
  if (kind === 'retry') return retry(claim, random.pick(DELAYS_MS))
  if (kind === 'waiting') return waiting(claim, wakeOf(random))
  return released(claim, (claim.step + claim.fence) % 2 === 0)
}

function skipReason({ step }: Claim): SkipReason {
  return step % 2 === 0 ? { because: 'when' } : { because: 'case', choice: 'a', case: 'y' }
}

/** A wait without a timeout is rare: only a signal, a cancellation or a deadline ends it. */
function wakeOf(random: Random): Wake | null {
  return random.chance(0.15) ? null : { afterMs: random.pick(DELAYS_MS) }
}

/** Most rounds are followed by another. A round may wait, for a child. */
function ofRound(claim: Claim, outcome: Outcome, random: Random): Outcome {
  if (outcome.type === 'decided') return retry(claim, 0)
  if (outcome.type !== 'completed' || random.chance(0.2)) return outcome
  return repeated(claim, random.pick(['1', 'null', null]), random.pick([0, 0, 0, ...DELAYS_MS]))
}

/** A loop begins: its first round is added. */
function begun(claim: Claim, random: Random): Outcome {
  const { runId, step, fence, direction, definitionId } = claim
  const items = [{ key: '1', value: random.pick(['1', 'null', null]) }]
  return { runId, step, fence, direction, definitionId, type: 'expanded', items, atOnce: null }
}

/** Items with JSON of some kinds, or none. */
function expanded(claim: Claim, random: Random): Outcome {
  const items = Array.from({ length: random.below(6) }, (_, n) => ({
    key: `k${n}`,
    value: random.pick(['1', 'null', null]),
  }))
  const { runId, step, fence, direction, definitionId } = claim
  return {
    runId,
    step,
    fence,
    direction,
    definitionId,
    type: 'expanded',
    items,
    atOnce: random.pick([null, 1, 2]),
  }
}

function undoOutcome(claim: Claim, random: Random, kind: StepShape['kind']): Outcome {
  // A join has no compensation.
  if (kind === 'join' && random.chance(0.7))
    return { ...relayed(claim, claim.undoOf!), joins: true } as Outcome
  const weights = {
    compensated: kind === 'join' ? 0 : 60,
    relayed: kind === 'join' ? 0 : 15,
    parked: 6,
    retry: 10,
    released: 9,
  }
  const chosen = random.weighted(weights)
  if (chosen === 'compensated') return compensated(claim)
  if (chosen === 'relayed') return relayed(claim, claim.undoOf!)
  if (chosen === 'parked') return parked(claim, `stuck ${random.below(100)}`)
  if (chosen === 'retry') return retry(claim, random.pick(DELAYS_MS))
  return released(claim)
}
