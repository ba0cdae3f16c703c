import type { Answer, MailIn, Receipt } from './answers.ts'
import type { MachineEvent } from './events.ts'
import type { Note } from './records.ts'
import type { Run, Unit } from './state.ts'

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
  call?(run: Run, s: Unit, event: Extract<MachineEvent, { readonly type: 'call' }>): void
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
