import { Few } from '../few.ts'
import type { Phase, Status } from './records.ts'

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
  /** `retry`: go on if you ended without completing; if you have completed, say so again. */
  readonly type: 'cancel' | 'undo' | 'retry' | 'pause' | 'resume' | 'reply'
  /** Of `cancel`: without an undo. */
  readonly keep?: boolean
  readonly body?: unknown
}

/** What one fold of events changes: it becomes one commit. */
export interface ChangesOf<Unit> {
  /** Units whose rows change. */
  readonly dirty: Few<Unit, true>
  /** Output and error of such a unit, where they change. */
  readonly payloads: Few<Unit, Payload>
  readonly dispatch: Few<Unit, Dispatch>
  /** Numbers of units whose handlers are told to end. */
  readonly abort: number[]
  readonly mail: MailOut[]
  readonly start: {
    readonly id: string
    readonly unit: number
    readonly child: { readonly id: string } | undefined
    readonly isDetached: boolean
  }[]
  /** Answers to calls of functions’ bodies. */
  readonly tell: {
    readonly scope: number
    readonly serial: number
    readonly key: string | number
    readonly status: Status
  }[]
  /** Numbers of units whose rows go. */
  readonly drop: number[]
  /** Transactions that may not commit any more: their units have ended otherwise. By unit and {@link Unit.within}. */
  readonly tombstones: { readonly unit: number; readonly within: number }[]
  /** How the run has ended. */
  ended: Status | null
  /** It has ended because it was dropped: no other run follows. */
  isDropped: boolean
  /** It has begun. Its rows say nothing of that. */
  begun: boolean
}

/** What a row carries besides its columns, where it changes. */
export interface Payload {
  readonly output?: unknown
  /** Its output is that of this unit: the store copies it. */
  readonly outputOf?: number
  readonly error?: unknown
  /** What a unit is born with. */
  readonly item?: unknown
}

export function noChanges<Unit>(): ChangesOf<Unit> {
  const lists = { abort: [], mail: [], start: [], tell: [], drop: [], tombstones: [] }
  return {
    dirty: new Few(),
    payloads: new Few(),
    dispatch: new Few(),
    ...lists,
    ended: null,
    isDropped: false,
    begun: false,
  }
}

/** As if it were new. */
export function empty<Unit>(out: ChangesOf<Unit>): void {
  out.dirty.clear()
  out.payloads.clear()
  out.dispatch.clear()
  for (const list of [out.abort, out.mail, out.start, out.tell, out.drop, out.tombstones])
    if (list.length > 0) list.length = 0
  out.ended = null
  out.isDropped = false
  out.begun = false
}
