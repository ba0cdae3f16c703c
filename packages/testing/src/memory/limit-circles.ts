import { CIRCLE_LOOKS_MAX, type LimitCircle } from '@belay/workflow/adapter'
import { stillWaits } from './limit-facts.ts'
import { OF_RUN, slotName, type WaiterRow } from './limit-rows.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'

/** Steps that wait for slots which ancestors of their runs hold. */
export function readLimitCircles(rows: Rows, runId: string | undefined): readonly LimitCircle[] {
  const waiters = [...rows.limits.waiters.values()].filter((waiter) => stillWaits(rows, waiter))
  const looked = runId === undefined ? firstOfEach(waiters) : waiters.filter((one) => one.runId === runId)
  return looked
    .flatMap((waiter) => {
      const { step, limit, key } = waiter
      const holderId = ancestorsOf(rows, waiter.runId).find((id) =>
        rows.limits.slots.has(slotName({ limit, key }, id, OF_RUN)),
      )
      return holderId === undefined ? [] : [{ runId: waiter.runId, step, limit, key, holderId }]
    })
    .sort((one, other) => compare(one.runId, other.runId) || one.step - other.step)
}

function firstOfEach(waiters: readonly WaiterRow[]): readonly WaiterRow[] {
  const inOrder = waiters.toSorted((one, other) => compare(one.key, other.key) || one.place - other.place)
  return [...new Set(inOrder.map(({ limit }) => limit))].flatMap((name) =>
    inOrder.filter(({ limit }) => limit === name).slice(0, CIRCLE_LOOKS_MAX),
  )
}

/** The runs that wait for this one, the nearest first. */
function ancestorsOf(rows: Rows, runId: string): readonly string[] {
  const { parent = null } = rows.runs.get(runId) ?? {}
  if (parent === null || parent.step === null) return []
  const run = rows.runs.get(parent.runId)
  const step = run === undefined ? undefined : rowOf(run, parent.step)
  const waits = step?.status === 'waiting' || step?.status === 'running' || step?.status === 'ready'
  return waits ? [parent.runId, ...ancestorsOf(rows, parent.runId)] : []
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
