import type { LimitEntry, Outcome, Settlement, SlotHolder, UndoPlan } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { sentence } from '../../words.ts'
import type { Attempt } from '../attempt/attempt.ts'
import { freedBy } from '../attempt/expansion.ts'
import { type AttemptEnd, type Deciding, decideOutcome, refOf } from '../decisions/decide.ts'
import type { Capacity, Reservation } from './capacity.ts'
import type { SettlerEntry } from './settler.ts'

/** The outcome to record for the end of an attempt. */
export function outcomeOf(attempt: Attempt, end: AttemptEnd, deciding: Deciding): Outcome {
  const { claim, step } = attempt
  const { runtime, storeStacks } = deciding
  if (end.type === 'threw')
    return decideOutcome(claim, step, end, { runtime, storeStacks, failingMs: attempt.failingMs })
  if (end.type === 'given_up' && !attempt.isBegun) {
    // The handler was not called, so there is nothing to undo.
    return { ...refOf(claim), type: 'released', begun: false }
  }
  return decideOutcome(claim, step, end, deciding)
}

/** The end of an attempt that told something, once that is stored or known not to be. */
export function endOnceTold({ step, claim, telling }: Attempt, end: AttemptEnd): AttemptEnd {
  const error = telling?.failure
  if (error === undefined) return end
  switch (end.type) {
    case 'returned':
    case 'repeats':
    case 'received':
    case 'waits':
    case 'expands':
      // The effect of a handler that returned is there. A wait has no effect, and a compensation may be called again.
      return step.wait === null &&
        (step.map === null || step.map.part === 'round') &&
        claim.direction === 'forward'
        ? { type: 'unstorable', error }
        : { type: 'threw', error }
    case 'unstorable':
    case 'threw':
    case 'loop_failed':
    case 'skipped':
    case 'decided':
    case 'enters':
    case 'relay':
    case 'given_up':
      return end
  }
}

/**
 * The replacement for an outcome whose output the store refuses: the handler succeeded, but its output is lost. Other outcomes have no replacement,
 * because they hold only values that the engine made, which can be stored.
 */
export function replacementFor(attempt: Attempt, refused: Outcome, reason: string): Outcome | undefined {
  if (refused.type !== 'completed' && refused.type !== 'repeated') return undefined
  const { claim, step } = attempt
  const type = step.wait === null ? 'unstorable' : 'threw'
  return decideOutcome(
    claim,
    step,
    { type, error: refusedOutput(attempt, reason) },
    { runtime: { random: () => 1 }, storeStacks: false },
  )
}

/** The error of a step whose output the store refused, for the reason that the store gave. */
export function refusedOutput({ claim, step }: Pick<Attempt, 'claim' | 'step'>, reason: string): BelayError {
  return new BelayError(
    'payload_unserialisable',
    `Output of step "${step.name}" of run ${claim.runId} cannot be stored: ${sentence(reason)} Return plain data: objects, arrays, strings, numbers, booleans, null.`,
    { runId: claim.runId, step: step.name },
  )
}

/** How many steps these outcomes could make ready. A step that several of them share counts once. */
function dependentsOf(entries: readonly SettlerEntry<Attempt>[]): number {
  const dependents = new Map<string, Set<number>>()
  let items = 0
  for (const { item, outcome } of entries) {
    // Its join goes on waiting.
    if (outcome.type === 'repeated') items += 1
    if (!END_WELL.has(outcome.type) && !(outcome.type === 'failed' && outcome.continues)) continue
    items += outcome.type === 'expanded' ? outcome.items.length : freedBy(item)
    if (item.dependents.length === 0) continue
    const known = dependents.get(outcome.runId)
    if (known === undefined) dependents.set(outcome.runId, new Set(item.dependents))
    else for (const dependent of item.dependents) known.add(dependent)
  }
  let count = items
  for (const { size } of dependents.values()) count += size
  return count
}

/** Reserves room for what these make ready. Undos make undos ready, for which there is room even if all slots are taken. */
export function reserveFor(entries: readonly SettlerEntry<Attempt>[], capacity: Capacity): Reservation {
  const areUndos = entries.every(({ item }) => item.claim.direction === 'undo')
  return capacity.reserve(dependentsOf(entries), areUndos ? capacity.undoRoom : capacity.room)
}

/** The attempts of these that may leave a slot behind. Undefined for none, as nearly always. */
export function slotHolders(entries: readonly SettlerEntry<Attempt>[]): readonly SlotHolder[] | undefined {
  let holders: SlotHolder[] | undefined
  for (const { item, outcome } of entries) {
    if (!item.holdsSlots || outcome.type === 'enters' || outcome.type === 'decided') continue
    const { runId, step, fence } = outcome
    holders ??= []
    holders.push({ runId, step, fence })
  }
  return holders
}

const END_WELL: ReadonlySet<Outcome['type']> = new Set([
  'completed',
  'received',
  'skipped',
  'expanded',
  'compensated',
  'relayed',
])

/** How many undos in these plans can begin at once. */
export function dueUndos(plans: readonly UndoPlan[]): number {
  let due = 0
  for (const { undos } of plans) for (const { openDependents } of undos) if (openDependents === 0) due += 1
  return due
}

/** What a worker does more about a settlement. */
export interface Told {
  /** The workflows of the steps, if the settlement queued others. */
  readonly definitionIds: readonly number[]
  /** The slots for which parked steps have asked. */
  readonly parked: readonly LimitEntry[]
}

/** What recorded outcomes mean to their worker. */
export function toTell({ queued, results }: Settlement, entries: readonly SettlerEntry<Attempt>[]): Told {
  const definitionIds = queued ? [...new Set(entries.map(({ outcome }) => outcome.definitionId))] : []
  if (!results.includes('parked')) return { definitionIds, parked: [] }
  const parked = entries.flatMap(({ outcome }, index) =>
    outcome.type === 'enters' && results[index] === 'parked' ? outcome.entries : [],
  )
  return { definitionIds, parked }
}
