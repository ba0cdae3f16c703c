import type {
  Claim,
  FreesSlots,
  KeepsAttempts,
  LimitEntry,
  LimitLine,
  Outcome,
  Settlement,
} from '@belay/workflow/adapter'
import { callLines, callSiblings } from './call-steps.ts'
import { assertInvariant, changedRun } from './change.ts'
import { type Entering, enter, free, type Places, takeFromLines } from './enter.ts'
import { byRunAndStep, enqueue, lease, type StepOfRun } from './lease.ts'
import { lineName, waiterName } from './limit-rows.ts'
import { type Consequences, record } from './outcome.ts'
import { refusalOfAny } from './refusal.ts'
import type { Rows, StepRow } from './rows.ts'
import { rowOf } from './run-rows.ts'
import { stopRun } from './stop.ts'
import { endOf, keepAttempt } from './trail.ts'
import { isLive } from './workers.ts'

export function settle(
  rows: Rows,
  settlement: KeepsAttempts &
    FreesSlots & { workerId: string; outcomes: readonly Outcome[]; handBackMax: number },
): Settlement {
  const { outcomes, handBackMax, workerId } = settlement
  outcomes.forEach(assertDirection)
  const consequences: Consequences = { unblocked: [], runs: new Map(), requeued: false }
  const results: Settlement['results'][number][] = []
  const entering = takeFromLines(rows, enteringSteps(rows, settlement))
  for (const index of inOrder(outcomes, entering)) {
    results[index] = settleOne(rows, { ...settlement, entering }, outcomes[index]!, consequences)
  }
  const over = fullOf(settlement, results)
  const { claims, left } = handBack(rows, consequences.unblocked, workerId, handBackMax)
  // Whoever takes an instant calls the next one, and whoever is put back may be called again.
  const called = callLines(rows, linesAskedFor(outcomes))
  const given = free(rows, [...(settlement.frees ?? []), ...over]) || called
  return {
    results,
    claims,
    runs: [...consequences.runs].map(([runId, status]) => changedRun(rows, rows.runs.get(runId)!, status)),
    queued: left > 0 || consequences.requeued || given,
  }
}

/** The attempts that have ended because a limit had no slot. */
function fullOf(
  { outcomes }: { readonly outcomes: readonly Outcome[] },
  results: Settlement['results'],
): readonly Outcome[] {
  return outcomes.filter((_, index) => {
    const result = results[index]!
    return typeof result === 'object' && 'full' in result
  })
}

function linesAskedFor(outcomes: readonly Outcome[]): readonly LimitLine[] {
  const lines = new Map<string, LimitLine>()
  for (const outcome of outcomes)
    if (outcome.type === 'enters') for (const entry of outcome.entries) lines.set(lineName(entry), entry)
  return [...lines.values()]
}

function settleOne(
  rows: Rows,
  {
    workerId,
    keepAttempts,
    entering,
  }: KeepsAttempts & { readonly workerId: string; readonly entering: Places },
  outcome: Outcome,
  consequences: Consequences,
): Settlement['results'][number] {
  const run = rows.runs.get(outcome.runId)
  const step = run === undefined ? undefined : rowOf(run, outcome.step)
  if (run === undefined || step === undefined) return 'lost'
  if (run.steps.length < run.definition.saved.shape.steps.length)
    return { refused: `rows of run ${run.runId} are missing` }
  if (!holds(step, outcome, workerId)) {
    if (outcome.type === 'enters') return isParked(step, outcome, workerId) ? 'parked' : 'lost'
    return isRecorded(step, outcome, workerId) ? 'settled' : 'lost'
  }
  const refused = refusalOfAny(outcome)
  if (refused !== undefined) return { refused }
  if (outcome.type === 'enters') {
    const entered = enter(rows, { run, step }, outcome, entering)
    if (entered === 'settled' && callSiblings(rows, run, outcome.entries)) consequences.requeued = true
    if (typeof entered === 'object' && 'full' in entered)
      leave(rows, { run, step }, { ...entered, outcome, keepAttempts }, consequences)
    return entered
  }
  const end = keepAttempts ? endOf(outcome) : undefined
  if (end !== undefined) keepAttempt(rows, { run, step }, end)
  record(rows, { run, step }, outcome, consequences)
  return 'settled'
}

/** Records what an entry says that has no slot. */
function leave(
  rows: Rows,
  held: StepOfRun,
  {
    full,
    outcome,
    keepAttempts,
  }: KeepsAttempts & { readonly full: LimitEntry; readonly outcome: Extract<Outcome, { type: 'enters' }> },
  consequences: Consequences,
): void {
  if (full.of === 'run') {
    if (stopRun(rows, held.run, 'cancellation', full.ifFull!)) {
      consequences.runs.set(held.run.runId, 'compensating')
    }
    return
  }
  const { entries: _, ...ref } = outcome
  const skip = { ...ref, type: 'skipped', branch: full.ifFull! } as const
  const end = keepAttempts ? endOf(skip) : undefined
  if (end !== undefined) keepAttempt(rows, held, end)
  record(rows, held, skip, consequences)
}

/** The steps whose attempts ask for slots, with what they ask for. */
function enteringSteps(
  rows: Rows,
  { workerId, outcomes }: { readonly workerId: string; readonly outcomes: readonly Outcome[] },
): readonly Entering[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.type !== 'enters') return []
    const run = rows.runs.get(outcome.runId)
    const step = run === undefined ? undefined : rowOf(run, outcome.step)
    if (run === undefined || step === undefined || !holds(step, outcome, workerId)) return []
    return [{ run, step, entries: outcome.entries }]
  })
}

/** The fence: only the attempt that holds the step may write for it. */
export function holds(step: StepRow, outcome: Outcome, workerId: string): boolean {
  const leased = outcome.direction === 'forward' ? 'running' : 'compensating'
  return step.status === leased && step.fence === outcome.fence && step.workerId === workerId
}

/** Recognises an outcome that an earlier call recorded, when its answer was lost. */
export function isRecorded(step: StepRow, outcome: Outcome, workerId: string): boolean {
  if (step.fence !== outcome.fence) return false
  switch (outcome.type) {
    case 'completed':
    case 'skipped':
    case 'failed':
    case 'compensated':
    case 'compensation_failed':
      return step.status === outcome.type && step.workerId === workerId
    case 'expanded':
    case 'repeated':
    case 'received':
      return step.status === 'completed' && step.workerId === workerId
    case 'waiting':
      return (step.status === 'waiting' || step.status === 'ready') && step.workerId === null
    case 'relayed':
      return step.status === outcome.undoOf && step.workerId === workerId
    // It does not end the attempt. An attempt that still holds its step records it again.
    case 'decided':
    case 'enters':
      return false
    case 'retry':
    case 'released':
      return step.status === requeuedStatus(outcome) && step.workerId === null
  }
}

/** An earlier call parked the step, or recorded what an entry without a slot says, and its answer was lost. */
function isParked(
  step: StepRow,
  { fence, entries }: Extract<Outcome, { type: 'enters' }>,
  workerId: string,
): boolean {
  if (step.fence !== fence) return false
  if (step.status === 'ready') return step.workerId === null
  if (entries.every(({ ifFull }) => ifFull === undefined)) return false
  return step.status === 'skipped' ? step.workerId === workerId : step.status === 'cancelled'
}

function requeuedStatus(outcome: Outcome): 'ready' | 'compensating' {
  return outcome.direction === 'forward' ? 'ready' : 'compensating'
}

/** Failures first: a completion must not hand back steps of a run that stops in the same call. Of those that ask for slots, the first in line first. */
function inOrder(outcomes: readonly Outcome[], places: Places): readonly number[] {
  const indexes = outcomes.map((_, index) => index)
  const rankOf = (index: number) => {
    const outcome = outcomes[index]!
    if (outcome.type === 'failed' && outcome.continues === undefined) return -1
    if (outcome.type !== 'enters') return Number.POSITIVE_INFINITY
    return places.get(waiterName(outcome))?.place ?? Number.MAX_VALUE
  }
  return indexes.sort((one, other) => Math.sign(rankOf(one) - rankOf(other)) || one - other)
}

function handBack(
  rows: Rows,
  unblocked: readonly StepOfRun[],
  workerId: string,
  handBackMax: number,
): { readonly claims: readonly Claim[]; readonly left: number } {
  const sorted = [...unblocked].sort(byRunAndStep)
  const taken = isLive(rows, workerId) ? sorted.slice(0, Math.max(0, handBackMax)) : []
  const left = sorted.slice(taken.length)
  for (const step of left) enqueue(rows, step)
  return { claims: taken.map((step) => lease(rows, step, workerId)), left: left.length }
}

function assertDirection(outcome: Outcome): void {
  const { type, direction, runId, step } = outcome
  const either = type === 'retry' || type === 'released'
  if (direction === 'forward' && (type === 'received' || type === 'waiting')) return
  const undo = type === 'compensated' || type === 'relayed' || type === 'compensation_failed'
  assertInvariant(
    either || direction === (undo ? 'undo' : 'forward'),
    'outcome_fits_direction',
    () => `step ${step} of run ${runId} cannot settle a ${direction} attempt as ${type}.`,
  )
}
