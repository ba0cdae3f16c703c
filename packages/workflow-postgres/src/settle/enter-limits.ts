import type { LimitEntry, Outcome } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Gives attempts their slots, each all of them or none, and parks the steps of those that get none. Guarantee: no key ever has more slots taken than
 * it has; nobody overtakes a step that waits; an attempt that no longer holds its step changes nothing, and one that asks again takes nothing twice.
 * What is decided is read under the keys' locks, so it is a function of several statements (`enter_limits`). Index: primary keys, of waiting steps by
 * line. Locks: own steps by (run, step), then keys by (limit, key). Each wait is half a second at most.
 */
export const enterLimits: Statement<{
  readonly position: number
  readonly result: 'settled' | 'parked' | 'queued' | 'full' | 'waits'
  /** Of a full one: which entry, from 1. */
  readonly entry: number | null
  /** Of one that waits: for how long. */
  readonly in_ms: number | null
}> = {
  name: 'enter_limits',
  text: `
select e.position, e.result, e.entry, e.in_ms
from belay.enter_limits($1::uuid, $2::uuid[], $3::int[], $4::int[], $5::int[], $6::int[], $7::text[], $8::text[], $9::bool[], $10::bool[]) e`,
}

export type EnteringOutcome = Extract<Outcome, { type: 'enters' }>

export interface Entered {
  /** Indexes of the outcomes whose attempts go on. */
  readonly settled: readonly number[]
  /** Indexes of those whose steps wait for a slot. */
  readonly parked: readonly number[]
  /** Those that ask again after so many milliseconds. */
  readonly waiting: readonly { readonly index: number; readonly inMs: number }[]
  /** Those that have ended because an entry has no slot for which they do not wait. What it says is left to be recorded in this transaction. */
  readonly full: readonly { readonly index: number; readonly entry: LimitEntry }[]
  /** Steps were called. */
  readonly queued: boolean
}

export async function enter(
  connection: Connection,
  { workerId, outcomes }: { workerId: string; outcomes: readonly EnteringOutcome[] },
): Promise<Entered> {
  const entries = outcomes.flatMap(({ entries: own }, index) =>
    own.map((entry) => ({ ...entry, attempt: index + 1 })),
  )
  const rows = await connection.query(enterLimits, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    entries.map(({ attempt }) => attempt),
    entries.map(({ limit }) => limit),
    entries.map(({ key }) => key),
    entries.map(({ of }) => of === 'run'),
    entries.map(({ ifFull }) => ifFull !== undefined),
  ])
  const indexesOf = (wanted: string) =>
    rows.flatMap(({ position, result }) => (result === wanted ? [position - 1] : []))
  return {
    settled: indexesOf('settled'),
    parked: indexesOf('parked'),
    waiting: rows.flatMap(({ position, in_ms: inMs }) =>
      inMs === null ? [] : [{ index: position - 1, inMs: Math.max(0, inMs) }],
    ),
    full: rows.flatMap(({ position, result, entry }) => {
      if (result !== 'full') return []
      const { attempt: _, ...full } = entries[entry! - 1]!
      return [{ index: position - 1, entry: full }]
    }),
    queued: indexesOf('queued').length > 0,
  }
}
