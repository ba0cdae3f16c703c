import {
  type HeartbeatRecord,
  type HeartbeatRequest,
  isHeartbeat,
  type ValueRecord,
} from '@belay/workflow/adapter'
import type { Rows, RunRow, ValueRow } from './rows.ts'
import { nameOf, rowOf } from './run-rows.ts'

export function valuesOf(rows: Rows, runId: string): readonly ValueRow[] {
  return rows.values.get(runId) ?? []
}

/** Without the details of heartbeats, which only the next attempts of their steps read. */
export function toldValuesOf(rows: Rows, runId: string): readonly ValueRow[] {
  return valuesOf(rows, runId).filter(({ key }) => !isHeartbeat(key))
}

export function heartbeatsOf(
  rows: Rows,
  runId: string,
  asked: readonly HeartbeatRequest[],
): readonly HeartbeatRecord[] {
  return asked.flatMap(({ step, key }) => {
    const found = valuesOf(rows, runId).find((value) => value.step === step && value.key === key)
    return found === undefined ? [] : [{ step, key, value: found.value }]
  })
}

/** Of each key the latest value, and the progress of each step. */
export function valueRecords(rows: Rows, run: RunRow): readonly ValueRecord[] {
  // A map that decided its items anew may have dropped the item that told a value.
  const values = toldValuesOf(rows, run.runId).filter(({ step }) => rowOf(run, step) !== undefined)
  const latest = values.filter(
    (value) =>
      value.key === null || !values.some((other) => other.key === value.key && isShownOver(other, value)),
  )
  const sorted = [...latest].sort((one, other) => {
    if (one.key === other.key) return one.step - other.step
    return (one.key ?? '') < (other.key ?? '') ? -1 : 1
  })
  return sorted.map(({ step, key, value, at }) => ({
    step,
    name: nameOf(run, rowOf(run, step)!),
    key,
    value,
    at,
  }))
}

function isShownOver(one: ValueRow, other: ValueRow): boolean {
  return one.at > other.at || (one.at === other.at && one.step > other.step)
}

/** Gives values the numbers that their steps have in the new definition. */
export function moveValues(rows: Rows, { runId }: RunRow, oldNumbers: readonly (number | null)[]): void {
  const moved = valuesOf(rows, runId).flatMap((value) => {
    const step = oldNumbers.indexOf(value.step)
    return step < 0 ? [] : [{ ...value, step }]
  })
  if (moved.length > 0) rows.values.set(runId, moved)
  else rows.values.delete(runId)
}
