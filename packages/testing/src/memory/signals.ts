import {
  type Delivery,
  type FoundRun,
  type NewRun,
  type NewSignal,
  refusedSignals,
} from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { enqueue } from './lease.ts'
import { refusalOf } from './payload.ts'
import type { Rows, RunRow, SignalRow, StepRow } from './rows.ts'
import { goesForward } from './stop.ts'
import type { MemoryTransaction } from './transaction.ts'

export function deliverSignals(rows: Rows, signals: readonly NewSignal[]): readonly Delivery[] {
  checkPayloads(signals)
  return signals.map((signal) => deliver(rows, signal))
}

/** Delivers signals inside a transaction: they arrive when it commits, and their steps are locked until then. */
export function deliverWithin(
  rows: Rows,
  signals: readonly NewSignal[],
  tx: MemoryTransaction,
): readonly Delivery[] {
  tx.assertOpen()
  checkPayloads(signals)
  return signals.map((signal) => {
    const own = tx.signals.find(({ runId, step }) => runId === signal.runId && step === signal.step)
    if (own !== undefined) {
      const { payload: recorded, payloadHash } = own
      if (own.key === signal.key) return { result: 'duplicate', recorded, payloadHash }
      return { result: 'ignored', reason: 'signalled', recorded, payloadHash }
    }
    const delivery = tx.runs.has(signal.runId)
      ? deliveryToNew(rows, signal, tx.runs.get(signal.runId)!)
      : deliveryOf(rows, signal)
    if (delivery.result === 'delivered' || delivery.result === 'kept') {
      tx.signals.push(signal)
      tx.hold([nameOfStep(signal)])
    }
    return delivery
  })
}

/** Whether a signal would be accepted now. */
export function isTaken(rows: Rows, signal: NewSignal): boolean {
  const { result } = deliveryOf(rows, signal)
  return result === 'delivered' || result === 'kept'
}

/** The name under which a signal locks its step until its transaction ends. */
export function nameOfStep({ runId, step }: Pick<NewSignal, 'runId' | 'step'>): string {
  return `step ${runId}/${step}`
}

/** Checks everything that may be refused first: a call records all of its signals or none. */
function checkPayloads(signals: readonly NewSignal[]): void {
  for (const { payload } of signals) {
    const refusal = refusalOf(payload)
    if (refusal !== undefined) throw refusedSignals(signals, refusal)
  }
}

function deliveryToNew(rows: Rows, signal: NewSignal, run: NewRun): Delivery {
  const definition = rows.definitions.get(run.definitionId)
  const exists = definition?.saved.shape.steps[signal.step] !== undefined
  return exists && run.definitionId === signal.definitionId ? { result: 'kept' } : { result: 'unknown' }
}

/** The result if the signal were delivered now. */
function deliveryOf(rows: Rows, signal: NewSignal): Delivery {
  const run = rows.runs.get(signal.runId)
  const step = run?.steps[signal.step]
  if (run === undefined || step === undefined || run.definition.saved.id !== signal.definitionId) {
    return { result: 'unknown' }
  }
  const recorded = step.signalledAt === null ? null : step.output
  const present = presentSignal(rows, signal)
  const payloadHash = present?.payloadHash
  if (present?.key === signal.key) return { result: 'duplicate', recorded, payloadHash }
  const reason = reasonToIgnore(rows, run, step)
  if (reason !== undefined) {
    const wasRecorded = present === undefined && hadSignal(rows, signal)
    return wasRecorded
      ? { result: 'duplicate', recorded }
      : { result: 'ignored', reason, recorded, payloadHash }
  }
  return { result: step.status === 'waiting' ? 'delivered' : 'kept' }
}

function deliver(rows: Rows, signal: NewSignal): Delivery {
  const delivery = deliveryOf(rows, signal)
  if (delivery.result !== 'delivered' && delivery.result !== 'kept') return delivery
  const run = rows.runs.get(signal.runId)!
  const step = run.steps[signal.step]!
  const { runId, key, actor, payload, payloadHash } = signal
  const received = { runId, step: step.step, key, actor, payload, payloadHash, receivedAt: rows.now }
  rows.signals.set(runId, [...signalsOf(rows, runId), { ...received, superseded: 0 }])
  const delivered = delivery.result === 'delivered'
  changeStep(run, step, {
    signalledAt: rows.now,
    output: payload,
    ...(delivered ? { status: 'ready', availableAt: null } : {}),
  })
  if (delivered) enqueue(rows, { run, step })
  return delivery
}

type Reason = Extract<Delivery, { result: 'ignored' }>['reason']

function reasonToIgnore(rows: Rows, run: RunRow, step: StepRow): Reason | undefined {
  if (step.signalledAt !== null) return 'signalled'
  if (!goesForward(run) || run.stop !== null) return 'run_over'
  switch (step.status) {
    case 'pending':
    case 'ready':
    case 'waiting':
      return undefined
    case 'running':
      // Claimed because its time was over: the consequences of the timeout are being recorded.
      return step.waitingSince !== null && step.availableAt !== null && step.availableAt <= rows.now
        ? 'timed_out'
        : undefined
    default:
      return 'step_over'
  }
}

export function findRun(
  rows: Rows,
  wanted: { readonly runId: string } | { readonly workflow: string; readonly key: string },
  tx?: MemoryTransaction,
): FoundRun | null {
  const own = [...(tx?.runs.values() ?? [])].find((run) =>
    'runId' in wanted
      ? run.runId === wanted.runId
      : run.workflow === wanted.workflow && run.key === wanted.key,
  )
  if (own !== undefined) {
    const { runId, definitionId, workflow, tags = [], parent = null } = own
    const priority = shownPriority(own)
    const { version } = rows.definitions.get(definitionId)!.saved
    return { runId, definitionId, workflow, version, tags, parent, deadlineAt: null, ...priority }
  }
  const run = 'runId' in wanted ? rows.runs.get(wanted.runId) : rows.runByKey(wanted.workflow, wanted.key)
  if (run === undefined) return null
  const { id: definitionId, version } = run.definition.saved
  const { runId, workflow, tags, parent, deadlineAt } = run
  return { runId, definitionId, workflow, version, tags, parent, deadlineAt, ...shownPriority(run) }
}

function shownPriority({ priority = 0 }: { readonly priority?: number | undefined }) {
  return priority === 0 ? {} : { priority }
}

/** A run's signals, in the order in which they came. */
export function signalsOf(rows: Rows, runId: string): readonly SignalRow[] {
  return rows.signals.get(runId) ?? []
}

/** The present signal of a step. */
function presentSignal(rows: Rows, { runId, step }: NewSignal): SignalRow | undefined {
  return signalsOf(rows, runId).find((signal) => signal.step === step && signal.superseded === 0)
}

/** Whether the step had a signal with this key that was superseded. */
function hadSignal(rows: Rows, { runId, step, key }: NewSignal): boolean {
  return signalsOf(rows, runId).some((signal) => signal.step === step && signal.key === key)
}

/** Supersedes the signals of steps that ask anew: their keys may come again. */
export function supersedeSignals(rows: Rows, runId: string, steps: readonly number[]): void {
  if (steps.length === 0) return
  const signals = signalsOf(rows, runId)
  const numbered = signals.map((signal) => {
    if (signal.superseded > 0 || !steps.includes(signal.step)) return signal
    const ofStep = signals.filter(({ step }) => step === signal.step)
    return { ...signal, superseded: 1 + Math.max(...ofStep.map(({ superseded }) => superseded)) }
  })
  rows.signals.set(runId, numbered)
}

/** Gives a run's signals the numbers that their steps have in the new definition. */
export function moveSignals(rows: Rows, runId: string, oldNumbers: readonly (number | null)[]): void {
  const moved = signalsOf(rows, runId).flatMap((signal) => {
    const step = oldNumbers.indexOf(signal.step)
    return step < 0 ? [] : [{ ...signal, step }]
  })
  if (moved.length > 0) rows.signals.set(runId, moved)
  else rows.signals.delete(runId)
}
