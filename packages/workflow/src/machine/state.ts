import type { Answer, MailIn } from './answers.ts'
import { type Cause, type Note, noTries, type Tries } from './records.ts'

export type { Answer, MailIn } from './answers.ts'
export { type Cause, type Note, noTries, type Tries } from './records.ts'

/**
 * Where a unit is. `open`: a scope whose units are under way. `parked`: it failed for good after a pivot, and an operator decides. `stopping`: it was told to
 * end. `unknown`: it failed because nobody knows how its last attempt ended. `undoing`, `stuck` (its undo failed for good), `undone`: what it did is taken
 * back; `of` keeps how it had ended before.
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
  | 'unknown'
  | 'cancelled'
  | 'undoing'
  | 'stuck'
  | 'undone'

/** What a handler is asked: whether the unit is wanted, what it opens, its work, a function's body, its undo. `wait` asks nobody: the kind knows what ends it. */
export type Phase = 'decide' | 'open' | 'run' | 'body' | 'undo' | 'wait'

/** What has attempts, an outcome and an undo, and a row: a step, an item, a round, a record of a function. One that opens others is a scope. */
export class Unit {
  /** Its number in the run, by birth. Never reused. */
  readonly no: number
  readonly scope: Unit | null
  /** Its stable name within its scope: of an item, a round or a message its place. */
  readonly key: string | number
  spec: Spec
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
  /** It failed after its effect: its output was refused, or what follows from it could not be decided. */
  succeeded = false
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
  /** The status and the serial that the row has. */
  row: Status = 'pending'
  written = 0
  /** Of a scope. */
  readonly units: Unit[] | null
  readonly named: Map<string | number, Unit> | null
  /** Units of the scope that have begun, and whose end is not digested. */
  alive = 0
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
  /** How many kills make it poison; null: no number does. From the code of the owner. */
  readonly lossesMax?: number | null
}

/** A run in memory: its units, and what the fold that is under way has changed. */
export interface Run {
  readonly id: string
  /** A child’s parent decides what becomes of it. */
  readonly parent: string | null
  paused: boolean
  /** The number of the next unit. */
  born: number
  readonly units: (Unit | undefined)[]
  root: Unit
  /** Units that wait for an operator. */
  parked: number
  now: number
  out: Changes
  readonly agenda: Entry[]
}

/** What is still to be digested in this fold: a unit has ended, a scope is entered for the first time, or it is stopped. */
export interface Entry {
  readonly unit: Unit
  readonly does: 'end' | 'enter' | 'stop'
  readonly cause?: Cause
}

/**
 * What is particular of a kind of unit: one file each. A leaf answers `begin`, `due`, `mail`, `stop`, `undo`, `owes`, `renews`; a scope, which opens units,
 * answers the others. All are told the run and the unit; none calls code of users.
 */
export interface Kind {
  readonly name: string
  /** What its handler is asked before it begins; null: nothing. Default null. */
  readonly asks?: 'run' | 'open'
  /** Of a leaf, once `open` was answered, or at once if it asks nothing: it waits, or ends. */
  begin?(run: Run, u: Unit, answer: Answer | undefined): void
  /** Its own wait is over. */
  due?(run: Run, u: Unit): void
  /** Answers what becomes of it: false if it takes none now. */
  mail?(run: Run, u: Unit, mail: MailIn): boolean
  /** It is stopped while it waits. Default: it is cancelled at once. */
  stop?(run: Run, u: Unit): void
  /** Default: its handler is asked `undo`. */
  undo?(run: Run, u: Unit): void
  /** Whether there can be something to undo. Default: it has a compensation. */
  owes?(spec: Spec): boolean
  /** If it runs again it is another round, also after a failure. */
  readonly renews?: true

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
  /** What the row of a unit keeps of its output. Once. */
  keeps?(run: Run, s: Unit, u: Unit, output: unknown): void
  /** A call of a function’s body. */
  call?(run: Run, s: Unit, event: Extract<MachineEvent, { readonly type: 'call' }>): void
  /** A function’s body has returned. */
  returned?(run: Run, s: Unit, answer: Answer): void
  /** What it gives its units at birth: their notes keep it when they run again. */
  readonly gives?: readonly string[]
  /** What its own note keeps when it runs again. */
  readonly holds?: readonly string[]
  /** Units that come after one that runs again are born anew. */
  readonly rebirths?: true
}

/** What happens to a run. `serial` is that of the ask which is answered. */
export type MachineEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'takeover' }
  | { readonly type: 'undoRun' | 'retry' | 'pause' | 'resume' | 'deadline' }
  | { readonly type: 'cancel'; readonly compensate?: boolean; readonly reason?: string }
  | { readonly type: 'migrate'; readonly spec: Spec }
  | ({ readonly unit: number } & (
      | ({ readonly type: 'done'; readonly serial: number } & Answer)
      | {
          readonly type: 'failed'
          readonly serial: number
          readonly error: unknown
          /** When it is tried again; without it, it has failed for good. */
          readonly retryAt?: number | undefined
          /** When the attempt began. Default: now. */
          readonly startedAt?: number
          /** Its effect is there: it is not tried again, and undone like a completed unit. */
          readonly succeeded?: true
        }
      /** Its worker is gone. */
      | { readonly type: 'lost'; readonly serial: number }
      /** It was never called: a stop of its worker, or a slot that was taken from it. */
      | { readonly type: 'unbegun'; readonly serial: number }
      /** A suspect has a slot, or it still runs at a tick: its row is written. `before`: its handler waits for that. */
      | { readonly type: 'record'; readonly serial: number; readonly before: boolean }
      | { readonly type: 'due' }
      | { readonly type: 'mail'; readonly mail: MailIn }
      | { readonly type: 'call'; readonly serial: number; readonly key: string; readonly kind: string }
      | { readonly type: 'retryStep' | 'giveUp' | 'retryUndo' | 'skipUndo' }
      | { readonly type: 'skipStep'; readonly output?: unknown }
    ))

/** An ask that leaves once the commit of its fold is answered. */
export interface Dispatch {
  readonly unit: number
  readonly serial: number
  readonly phase: Phase
  /** It may have begun before. The event `record` comes before its handler is called. */
  readonly suspect: boolean
}

/** For another run: a child that is cancelled or undone, or the sender of a message. */
export interface MailOut {
  readonly to: string
  readonly type: 'cancel' | 'undo' | 'reply'
  readonly keep?: boolean
  readonly body?: unknown
}

/** What a handler gave, or how it failed. */
export interface Payload {
  readonly output?: unknown
  readonly error?: unknown
}

/** What one fold of events changes: it becomes one commit. */
export interface Changes {
  /** Units whose rows change. */
  readonly dirty: Set<Unit>
  /** Output and error of such a unit, where they change. */
  readonly payloads: Map<Unit, Payload>
  readonly dispatch: Map<Unit, Dispatch>
  /** Numbers of units whose handlers are told to end. */
  readonly abort: number[]
  readonly mail: MailOut[]
  readonly start: { readonly id: string; readonly unit: number; readonly child: unknown }[]
  /** Answers to calls of functions’ bodies. */
  readonly tell: {
    readonly scope: number
    readonly serial: number
    readonly key: string | number
    readonly status: Status
  }[]
  /** Numbers of units whose rows go. */
  readonly drop: number[]
  /** How the run has ended. */
  ended: Status | null
}

export function changes(): Changes {
  const lists = { abort: [], mail: [], start: [], tell: [], drop: [] }
  return { dirty: new Set(), payloads: new Map(), dispatch: new Map(), ...lists, ended: null }
}
