import {
  BelayError,
  type Delivery,
  type FoundRun,
  type NewRun,
  type NewSignal,
} from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { enqueue } from './lease.ts'
import { refusalOf } from './payload.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { goesForward } from './stop.ts'
import type { MemoryTransaction } from './transaction.ts'

/** A signal as it was recorded. */
export interface SignalRow {
  readonly runId: string
  readonly step: number
  readonly key: string
  readonly actor: string | null
  readonly payload: string | null
  readonly receivedAt: number
}

export function deliverSignals(rows: Rows, signals: readonly NewSignal[]): readonly Delivery[] {
  checkPayloads(signals)
  return signals.map((signal) => deliver(rows, signal))
}

/** The same inside a transaction: they are delivered when it commits, and their steps are held until then. */
export function deliverWithin(
  rows: Rows,
  signals: readonly NewSignal[],
  tx: MemoryTransaction,
): readonly Delivery[] {
  tx.assertOpen()
  checkPayloads(signals)
  return signals.map((signal) => {
    const own = tx.signals.find(({ runId, step }) => runId === signal.runId && step === signal.step)
    if (own?.key === signal.key) return { result: 'duplicate', recorded: own.payload }
    if (own !== undefined) return { result: 'ignored', reason: 'signalled', recorded: own.payload }
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

/** Tells whether a signal would be taken now. */
export function isTaken(rows: Rows, signal: NewSignal): boolean {
  const { result } = deliveryOf(rows, signal)
  return result === 'delivered' || result === 'kept'
}

/** What a signal holds against other transactions until its own ends. */
export function nameOfStep({ runId, step }: NewSignal): string {
  return `step ${runId}/${step}`
}

/** Everything that can be refused is checked first: a call records all of its signals or none. */
function checkPayloads(signals: readonly NewSignal[]): void {
  for (const { payload } of signals) {
    const refusal = refusalOf(payload)
    if (refusal !== undefined) throw new BelayError('invalid_input', refusal)
  }
}

function deliveryToNew(rows: Rows, signal: NewSignal, run: NewRun): Delivery {
  const definition = rows.definitions.get(run.definitionId)
  const exists = definition?.saved.shape.steps[signal.step] !== undefined
  return exists && run.definitionId === signal.definitionId ? { result: 'kept' } : { result: 'unknown' }
}

/** What becomes of a signal that is delivered now. */
function deliveryOf(rows: Rows, signal: NewSignal): Delivery {
  const run = rows.runs.get(signal.runId)
  const step = run?.steps[signal.step]
  if (run === undefined || step === undefined || run.definition.saved.id !== signal.definitionId) {
    return { result: 'unknown' }
  }
  const recorded = step.signalledAt === null ? null : step.output
  if (rows.signals.has(nameOf(signal))) return { result: 'duplicate', recorded }
  const reason = reasonAgainst(rows, run, step)
  if (reason !== undefined) return { result: 'ignored', reason, recorded }
  return { result: step.status === 'waiting' ? 'delivered' : 'kept' }
}

function deliver(rows: Rows, signal: NewSignal): Delivery {
  const delivery = deliveryOf(rows, signal)
  if (delivery.result !== 'delivered' && delivery.result !== 'kept') return delivery
  const run = rows.runs.get(signal.runId)!
  const step = run.steps[signal.step]!
  const { runId, key, actor, payload } = signal
  rows.signals.set(nameOf(signal), {
    runId,
    step: step.step,
    key,
    actor,
    payload,
    receivedAt: rows.now,
  })
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

function reasonAgainst(rows: Rows, run: RunRow, step: StepRow): Reason | undefined {
  if (step.signalledAt !== null) return 'signalled'
  if (!goesForward(run)) return 'run_over'
  switch (step.status) {
    case 'pending':
    case 'ready':
    case 'waiting':
      return undefined
    case 'running':
      // Claimed because it was due: what follows from its timeout is being recorded.
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
    const { runId, definitionId, workflow, tags = [] } = own
    const { version } = rows.definitions.get(definitionId)!.saved
    return { runId, definitionId, workflow, version, tags }
  }
  const run = 'runId' in wanted ? rows.runs.get(wanted.runId) : rows.runByKey(wanted.workflow, wanted.key)
  if (run === undefined) return null
  const { id: definitionId, version } = run.definition.saved
  return { runId: run.runId, definitionId, workflow: run.workflow, version, tags: run.tags }
}

/** What a run was told, in the order it came. */
export function signalsOf(rows: Rows, runId: string): readonly SignalRow[] {
  return [...rows.signals.values()].filter((signal) => signal.runId === runId)
}

/** Gives a run's signals the numbers that their steps have in its new definition. */
export function moveSignals(rows: Rows, runId: string, oldNumbers: readonly (number | null)[]): void {
  const signals = signalsOf(rows, runId)
  for (const signal of signals) rows.signals.delete(nameOf(signal))
  for (const signal of signals) {
    const step = oldNumbers.indexOf(signal.step)
    if (step >= 0) rows.signals.set(nameOf({ ...signal, step }), { ...signal, step })
  }
}

function nameOf({ runId, step, key }: Pick<NewSignal, 'runId' | 'step' | 'key'>): string {
  return JSON.stringify([runId, step, key])
}
