import {
  isHeartbeat,
  type NewValue,
  type ObservedRun,
  type Published,
  type PublishRequest,
  type ValueRecord,
} from '@belay/workflow/adapter'
import { nameOfRun } from './change-within.ts'
import { isLeased } from './lease.ts'
import { refusalOf } from './payload.ts'
import { printOf } from './prints.ts'
import { shownStatus } from './read.ts'
import type { NameHolder, Rows, StepRow, ValueRow } from './rows.ts'
import { rowOf, rowsOf } from './run-rows.ts'
import { nameOfStep } from './signals.ts'
import { toldValuesOf, valueRecords, valuesOf } from './value-rows.ts'

/** Stores the values that can be stored. `tx` is the transaction that they belong to. */
export function publish(rows: Rows, request: PublishRequest, tx?: NameHolder): readonly Published[] {
  const results = resultsOf(rows, request, tx)
  request.values.forEach((value, index) => {
    if (results[index] === 'stored') store(rows, value)
  })
  return results
}

/** What publishing these values would answer. */
export function resultsOf(
  rows: Rows,
  { workerId, values, keysMax }: PublishRequest,
  tx?: NameHolder,
): readonly Published[] {
  const keys = new Map<string, Set<string>>()
  return values.map((value) => {
    const { runId, step, fence, key } = value
    const row = rowIn(rows, { runId, step })
    if (row === undefined || row.workerId !== workerId || row.fence !== fence || !isLeased(row)) return 'lost'
    if (rows.holderOf([nameOfRun(runId), nameOfStep({ runId, step })], tx) !== undefined) return 'busy'
    const refusal = refusalOf(value.value)
    if (refusal !== undefined) return { refused: refusal }
    if (key === null || isHeartbeat(key)) return 'stored'
    const known = keys.get(runId) ?? keysOf(rows, runId)
    keys.set(runId, known)
    if (!known.has(key) && known.size >= keysMax) return 'too_many'
    known.add(key)
    return 'stored'
  })
}

function rowIn(rows: Rows, { runId, step }: Pick<NewValue, 'runId' | 'step'>): StepRow | undefined {
  const run = rows.runs.get(runId)
  return run === undefined ? undefined : rowOf(run, step)
}

function keysOf(rows: Rows, runId: string): Set<string> {
  return new Set(toldValuesOf(rows, runId).flatMap(({ key }) => key ?? []))
}

function store(rows: Rows, { runId, step, fence, sequence, key, ageMs, value }: NewValue): void {
  const values = valuesOf(rows, runId)
  const before = values.find((other) => other.step === step && other.key === key)
  if (before !== undefined && !isAfter({ fence, sequence }, before)) return
  const row = rowIn(rows, { runId, step })!
  const startedAt = (row.undo ?? row).startedAt ?? 0
  // Never before the attempt began: a clock that was set must not put a value behind one of an earlier step.
  const at = Math.max(rows.now - ageMs, startedAt)
  const others = values.filter((other) => other !== before)
  rows.values.set(runId, [...others, { step, fence, sequence, key, value, at }])
}

type Order = Pick<ValueRow, 'fence' | 'sequence'>

function isAfter(one: Order, other: Order): boolean {
  return one.fence > other.fence || (one.fence === other.fence && one.sequence > other.sequence)
}

export function readValues(rows: Rows, runId: string): readonly ValueRecord[] | null {
  const run = rows.runs.get(runId)
  return run === undefined ? null : valueRecords(rows, run)
}

export function observeRuns(rows: Rows, runIds: readonly string[]): readonly ObservedRun[] {
  return [...new Set(runIds)].flatMap((runId) => {
    const run = rows.runs.get(runId)
    if (run === undefined) return []
    const values = [...toldValuesOf(rows, runId)].sort(
      (one, other) => one.step - other.step || ((one.key ?? '') < (other.key ?? '') ? -1 : 1),
    )
    return [
      {
        runId,
        status: shownStatus(rows, run),
        steps: printOf(rowsOf(run)),
        values: values.map(({ step, key, fence, sequence }) => [step, key, fence, sequence].join(':')).join(),
      },
    ]
  })
}
