import type { Answer, Call, MailIn, Receipt } from './answers.ts'
import type { ChangesOf } from './changes.ts'
import { type Cause, type Note, noTries, type Phase, type Status, type Tries } from './records.ts'
import type { RunRow } from './row.ts'

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
  /** It has begun, or was taken up, since its scope was entered. */
  isCounted = false
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

/** What one fold changes. */
export type Changes = ChangesOf<Unit>

/** What a definition says of a unit, prepared: see `specOfShape()`. Kinds have fields of their own. */
export interface Spec {
  readonly of: Kind
  /** The name of the step, or of what an item or a round belongs to. */
  readonly name: string
  /** A handler is asked whether it is wanted. */
  readonly when?: true
  readonly compensate?: 'completed' | 'started'
  readonly pivot?: true
  readonly irreversible?: true
  /** Its definition may skip it. */
  readonly skippable?: true
  /** Of a root: its input is an array of inputs. */
  readonly batch?: true
}

/**
 * What is particular of a kind of unit: one file each. A leaf answers `begin`, `due`, `mail`, `stop`, `undo`, `owes`, `renews`; a scope, which opens units,
 * answers the others. All are told the run and the unit; none calls code of users.
 */
export interface Kind {
  readonly name: string
  /** What its handler is asked first. Default: nothing. */
  readonly asks?: 'run' | 'open'
  /** Of a leaf, once `open` was answered, or at once if it asks nothing: it waits, or ends. */
  begin?(run: Run, u: Unit, answer: Answer | undefined): void
  /** Its own wait is over. */
  due?(run: Run, u: Unit): void
  /** Default: it takes none. */
  mail?(run: Run, u: Unit, mail: MailIn): Receipt
  /** A question of its own was answered: `timeout`, or one of a scope’s. */
  answered?(run: Run, u: Unit, answer: Answer): void
  /** It is stopped while it waits. Default: it is cancelled at once. */
  stop?(run: Run, u: Unit): void
  /** The handler of its undo has answered. Default: it is undone. */
  undo?(run: Run, u: Unit, answer: Answer): void
  /** Whether there is something to undo. Default: it has a compensation, and its effect is there. */
  owes?(u: Unit): boolean
  /** It runs again in its round, even if what it builds on was undone. */
  stays?(u: Unit): boolean
  /** It waits in `wait`, and what it waits for has come. */
  hasCome?(u: Unit): boolean
  /** Its units are decided again, in another round or in the same one; null: it goes on with those that it has. */
  restarts?(s: Unit): 'anew' | 'again' | null
  /** It waits in `wait`, and is to look again. False: it cannot. */
  hurry?(run: Run, u: Unit): boolean
  /** The run is paused or resumed while it waits in `wait`. */
  paused?(run: Run, u: Unit): void

  /** A scope’s keys are names; otherwise places in `units`. */
  readonly named?: true
  /** The spec of a unit, by its key; undefined if the definition has none. */
  specOf?(spec: Spec, key: string | number): Spec | undefined
  /** Gives birth to units at the first opening: their rows. */
  grow?(run: Run, s: Unit, answer: Answer | undefined): void
  /** Begins units, over whatever there is already, and sets `mem`. */
  open?(run: Run, s: Unit): void
  /** A unit has ended: others begin, or the scope ends. It may be told twice. */
  ended?(run: Run, s: Unit, u: Unit): void
  /** Nothing is alive: the scope ends, or waits for mail. */
  idle?(run: Run, s: Unit): void
  /** The units that had to end before this one began. Their undo comes after its own, and if they run again so does it. */
  before?(s: Unit, u: Unit): readonly Unit[]
  /** What a failed one did stays, if its own scope bears the failure. */
  readonly keepsEffects?: true
  /** It is taken up again while it waits: by a load, or at the end of a pause. */
  resumes?(run: Run, u: Unit): void
  /** A failure of this unit does not fail the scope. */
  bears?(s: Unit, u: Unit): boolean
  /** What the row of a unit keeps of its answer. Once. */
  keeps?(run: Run, s: Unit, u: Unit, answer: Answer): void
  /** A unit that was busy is not any more: another may begin. */
  rests?(run: Run, s: Unit): void
  /** A call of a function’s body. */
  call?(run: Run, s: Unit, call: Call): void
  /** What it gives its units: their notes keep it when they run again. */
  readonly gives?: readonly string[]
  /** What its note keeps when it runs again. */
  remembers?(u: Unit): Note | null
  /** Its output stays when it runs again. */
  keepsOutput?(u: Unit): boolean
  /** Its handler decides its units. Why such a unit cannot be skipped while its handler does. */
  readonly decides?: { readonly because: string; readonly remedy: string }
  /** Units that come after one that runs again are born anew. */
  readonly rebirths?: true
}
