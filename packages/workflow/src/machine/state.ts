import type { Changes } from './changes.ts'
import type { Kind, Spec } from './kind.ts'
import { type Cause, type Note, noTries, type Tries } from './records.ts'
import type { RunRow } from './rows.ts'

/**
 * Where a unit is. `waiting`: for a time, for mail or for a slot. `open`: a scope whose units are under way. `parked`: it failed for good after a pivot, and an
 * operator decides. `stopping`: it was told to end. `undoing`, `stuck` (its undo failed for good), `undone`: what it did is taken back; `of` keeps how it had
 * ended before.
 */
export type Status =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'open'
  | 'parked'
  | 'stopping'
  | 'completed'
  | 'skipped'
  | 'failed'
  | 'cancelled'
  | 'undoing'
  | 'stuck'
  | 'undone'

/**
 * What a handler is asked: whether the unit is wanted, what it opens, its work, what follows a signal that did not come, its undo; and while units of a scope
 * are under way or have ended: a function’s body, whether a loop goes on, what a map’s items come to. `wait` asks nobody: the kind knows what ends it.
 */
export type Phase = 'decide' | 'open' | 'run' | 'timeout' | 'undo' | 'wait' | ScopePhase
export type ScopePhase = 'body' | 'until' | 'gather'

/** What has attempts, an outcome and an undo, and a row: a step, an item, a round, a record of a function. One that opens others is a scope. */
export class Unit {
  /** Its number in the run, by birth. Never reused. */
  readonly no: number
  readonly scope: Unit | null
  /** Its stable name within its scope: of an item, a round or a message its place. */
  readonly key: string | number
  spec: Spec
  /** How people name an item or a round. */
  label: string | undefined = undefined
  status: Status = 'pending'
  /** How it had ended when its undo began. */
  of: Status | null = null
  phase: Phase | null = null
  readonly forward: Tries = noTries()
  undo: Tries | null = null
  /** Of its last ask. It never repeats for the unit, and every answer names it. */
  serial = 0
  /** Which effect of the unit this is, from 1: part of its idempotency key. */
  round: number
  /** A handler of phase `run` may have been called in this round. */
  touched = false
  /** Its effect of this round is there, although it has not completed: its output was refused, or it completed and runs again. */
  succeeded = false
  /**
   * The serial of the first ask whose transaction may commit the outcome itself, under this number: of all attempts since then one does. If it ends otherwise,
   * none may any more. Null: it has no such transaction.
   */
  within: number | null = null
  /** Of a scope: the highest round of all units that were ever dropped from it. No key of theirs is used again. */
  dropped = 0
  note: Note | null = null

  /** The ask is with somebody. Not so with a phase that asks: a pause holds it. */
  flying = false
  /** Its begin, or the begin of its undo, waits for the end of a pause. */
  held = false
  /** Its undo was under way when its scope was stopped: the undo of the scope takes it up, and the drain does not wait for it. */
  aside = false
  /** The row with this ask was committed before the handler was called. */
  recorded = false
  /** Its end, or what it tells of itself, that is still to be digested in this fold. Its scope forgets it when it is entered anew. */
  ending: Entry | null = null
  telling: Entry | null = null
  /** It waits for mail or a time of its own, and is not busy. */
  isResting = false
  /** The status and the serial that the row has. */
  row: Status = 'pending'
  written = 0
  /** Of a scope. */
  readonly units: Unit[] | null
  readonly named: Map<string | number, Unit> | null
  /** Units of the scope that have begun, and whose end is not digested. */
  alive = 0
  /** Of these, how many rest. */
  resting = 0
  /** What the scope’s kind counts while it is open or undone; made anew whenever it is entered. */
  mem: unknown = null

  constructor(no: number, scope: Unit | null, key: string | number, spec: Spec, round = 1) {
    this.no = no
    this.scope = scope
    this.key = key
    this.spec = spec
    this.round = round
    const isScope = spec.of.open !== undefined
    this.units = isScope ? [] : null
    this.named = spec.of.named === true ? new Map() : null
  }

  get kind(): Kind {
    return this.spec.of
  }

  /** The record of the direction that is under way. */
  get tries(): Tries {
    return this.undo !== null && this.of !== null ? this.undo : this.forward
  }
}

/** A run in memory: its units, and what the fold that is under way has changed. */
export interface Run {
  readonly id: string
  /** A child’s parent decides what becomes of it. */
  readonly parent: string | null
  paused: boolean
  priority: number
  /** The number of the next unit. */
  born: number
  readonly units: (Unit | undefined)[]
  root: Unit
  /** Units that wait for an operator. */
  parked: number
  /** Epoch milliseconds; null: none, or it means nothing any more. */
  deadlineAt: number | null
  /** How often it has ended. */
  ends: number
  /** Its row as it was committed. */
  known: RunRow | null
  now: number
  out: Changes
  readonly agenda: Entry[]
}

/** What is still to be digested in this fold: a unit has ended or tells its outcome before its end, a scope is entered for the first time, or it is stopped. */
export interface Entry {
  readonly unit: Unit
  readonly does: 'end' | 'told' | 'enter' | 'stop'
  readonly cause?: Cause
}
