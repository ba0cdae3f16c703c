import type { Answer } from './answers.ts'
import type { MachineEvent } from './events.ts'
import {
  complete,
  fail,
  forget,
  isOfScope,
  land,
  note,
  over,
  skip,
  stick,
  stir,
  touch,
  undone,
} from './outcomes.ts'
import { noTries, type Phase } from './records.ts'
import type { Run, Unit } from './state.ts'

// The life of a unit. It knows no kinds: what is particular is in u.kind, and what follows an end is its scope’s matter.

type EventOf<Type extends MachineEvent['type']> = Extract<MachineEvent, { readonly type: Type }>

/**
 * The rows imply the first ask of a pending unit that its scope begins, and of an ended one whose scope is being undone. Such an ask is not written: a
 * plain step costs one update, at its end.
 */
function isImplied(u: Unit): boolean {
  if (u.tries.attempt !== 1 || u.serial !== u.written + 1) return false
  return u.phase === 'undo' ? u.scope?.status === 'undoing' && u.row === u.of : u.row === 'pending'
}

/** Asks a handler. A new question has tries of its own. */
export function ask(run: Run, u: Unit, phase: Phase, { suspect = false } = {}): void {
  if (u.phase !== phase && u.note?.tried !== phase) Object.assign(u.tries, noTries())
  if (u.note?.tried !== undefined) forget(u, 'tried')
  stir(u)
  u.phase = phase
  u.tries.attempt += 1
  u.tries.due = null
  u.serial += 1
  if (isOfScope(phase)) u.status = 'open'
  else if (phase !== 'undo') u.status = 'running'
  fly(run, u, { suspect })
}

/** The ask leaves with this fold, unless the run is paused. */
export function fly(run: Run, u: Unit, { suspect = false } = {}): void {
  u.flying = !run.paused
  u.recorded = false
  if (u.flying) {
    const { no: unit, serial, phase } = u
    run.out.dispatch.set(u, { unit, serial, phase: phase!, suspect })
  }
  const mustBeRecorded = u.spec.compensate === 'started' && u.phase === 'run'
  if (isImplied(u) && !mustBeRecorded) return
  // The row is in the commit with which the ask leaves. That of a suspect says that it has begun once it has a slot.
  u.recorded = u.flying && !suspect
  touch(run, u)
}

/** A scope asks this question once, or takes it up. */
export function question(run: Run, s: Unit, phase: Phase): void {
  if (s.phase !== phase) ask(run, s, phase)
  else if (!s.flying && s.tries.due === null && !run.paused) fly(run, s)
}

const answers = (u: Unit, serial: number): boolean => u.flying && u.serial === serial

/** A pending unit goes on from its phase: is it wanted, what does its handler open or do. */
export function setOut(run: Run, u: Unit): void {
  if (u.spec.when === true && u.phase === null && u.note?.decided !== true) ask(run, u, 'decide')
  else go(run, u)
}

function go(run: Run, u: Unit): void {
  // What has units was opened before.
  const asks = u.units !== null && u.units.length > 0 ? undefined : u.kind.asks
  if (asks === undefined) open(run, u, undefined)
  else ask(run, u, asks)
}

/** A unit begins what it is, its handler having said what it needs. A scope is entered once this event is digested. */
function open(run: Run, u: Unit, answer: Answer | undefined): void {
  if (u.units === null) return u.kind.begin?.(run, u, answer)
  u.status = 'open'
  u.phase = null
  // The rows of a run that has begun imply that its root is open.
  if (u.scope !== null || answer !== undefined || u.row !== 'pending') touch(run, u)
  u.kind.grow?.(run, u, answer)
  run.agenda.push({ unit: u, does: 'enter' })
}

export function done(run: Run, u: Unit, event: EventOf<'done'>): void {
  if (!answers(u, event.serial)) return
  answered(run, u, event)
}

/** What a transaction committed is the outcome, whichever attempt it was. */
export function within(run: Run, u: Unit, event: EventOf<'within'>): void {
  if (u.within === null || u.within !== event.within) return
  u.within = null
  abort(run, u)
  answered(run, u, event)
}

/** Whoever has its ask is told to end; one that has not left yet is withdrawn. Whether somebody has it. */
export function abort(run: Run, u: Unit): boolean {
  if (!u.flying) return false
  if (run.out.dispatch.delete(u)) {
    u.tries.attempt -= 1
    return false
  }
  run.out.abort.push(u.no)
  return true
}

function answered(run: Run, u: Unit, answer: Answer): void {
  const { phase } = u
  settle(u)
  switch (phase) {
    case 'undo':
      return u.kind.undo === undefined ? undone(run, u) : u.kind.undo(run, u, answer)
    case 'decide':
      return decided(run, u, answer.yes === true)
    case 'run':
      u.touched = true
      if (answer.due === undefined) return complete(run, u, answer)
      if (u.status === 'stopping') return forgo(run, u)
      Object.assign(u.forward, noTries())
      if (u.note?.since === undefined) note(u, { since: run.now })
      return wait(run, u, answer.due)
    default:
      if (u.status === 'stopping')
        return phase === 'open' && u.units === null ? forgo(run, u) : over(run, u, 'cancelled')
      if (phase === 'open') return open(run, u, answer)
      return u.kind.answered?.(run, u, answer)
  }
}

/** It is not to wait any more. Its handler has answered: another time it is asked anew. */
function forgo(run: Run, u: Unit): void {
  Object.assign(u.forward, noTries())
  over(run, u, 'cancelled')
}

/** Its handler was called, so it has left its line. */
function settle(u: Unit): void {
  land(u)
  if (u.note?.line !== undefined) forget(u, 'line')
}

function decided(run: Run, u: Unit, isWanted: boolean): void {
  if (!isWanted) return skip(run, u, { because: 'when' })
  note(u, { decided: true })
  touch(run, u)
  if (u.status === 'stopping') over(run, u, 'cancelled')
  else go(run, u)
}

export function failed(run: Run, u: Unit, event: EventOf<'failed'>): void {
  if (!answers(u, event.serial)) return
  const { phase, tries } = u
  const { error } = event
  settle(u)
  if (phase === 'run') u.touched = true
  if (event.succeeded === true) u.succeeded = true
  else if (event.retryAt !== undefined || event.interrupted === true) {
    if (tries.failures === 0) tries.series = event.startedAt ?? run.now
    tries.failures += 1
    if (u.status !== 'stopping') return wait(run, u, event.retryAt ?? run.now, { error })
    touch(run, u, { error })
    return over(run, u, 'cancelled')
  }
  if (phase === 'undo') stick(run, u, error)
  else fail(run, u, error)
}

/** It waits until then; with null only for mail or a slot. Then its phase is asked again; without a phase it sets out; of `wait` its kind knows. */
export function wait(run: Run, u: Unit, due: number | null, payload?: { readonly error?: unknown }): void {
  if (u.status !== 'undoing' && u.status !== 'stopping' && !isOfScope(u.phase)) u.status = 'waiting'
  u.tries.due = due
  touch(run, u, payload)
}

/** A leaf waits for what its kind knows. */
export function waitFor(run: Run, u: Unit, due: number | null): void {
  u.phase = 'wait'
  Object.assign(u.tries, noTries())
  wait(run, u, due)
  rest(run, u)
}

/** It is not busy while it waits. */
export function rest(run: Run, u: Unit): void {
  if (u.isResting || u.scope === null) return
  u.isResting = true
  u.scope.resting += 1
  u.scope.kind.rests?.(run, u.scope)
}

export function due(run: Run, u: Unit): void {
  const { tries } = u
  if (tries.due === null || tries.due > run.now || run.paused) return
  tries.due = null
  if (u.status === 'undoing') ask(run, u, 'undo')
  else if (u.phase === 'wait') u.kind.due?.(run, u)
  else if (u.phase === null) setOut(run, u)
  else ask(run, u, u.phase)
}

/**
 * Whoever had the ask is gone, and nobody knows whether it had begun: it is a suspect. Its attempt and its losses grow; only if a row had said so before its
 * handler was called does the loss count as a kill.
 */
export function lost(
  run: Run,
  u: Unit,
  { serial, killsMax }: Pick<EventOf<'lost'>, 'serial' | 'killsMax'>,
): void {
  if (!answers(u, serial)) return
  const { tries, phase } = u
  // Not if that row is only in this fold.
  const isKill = u.recorded && u.serial === u.written
  settle(u)
  tries.losses += 1
  if (isKill) tries.kills += 1
  if (phase === 'run') u.touched = true
  if (u.status === 'stopping') return over(run, u, 'cancelled')
  if (!isKill || killsMax === undefined || tries.kills < killsMax)
    return ask(run, u, phase!, { suspect: true })
  if (phase === 'undo') stick(run, u, 'lost')
  else fail(run, u, 'lost')
}

/** Its worker does not go on with it. Unless its handler was called, the attempt does not count. */
export function released(run: Run, u: Unit, { serial, called }: EventOf<'released'>): void {
  if (!answers(u, serial)) return
  const { phase, tries } = u
  if (called) settle(u)
  else land(u)
  if (!called) tries.attempt -= 1
  else if (phase === 'run') u.touched = true
  if (u.status === 'stopping') return over(run, u, 'cancelled')
  ask(run, u, phase!)
}

/** It found no slot: it stands in a line, or is skipped. Its handler was not called. */
export function lined(run: Run, u: Unit, { serial, line, skips }: EventOf<'lined'>): void {
  if (!answers(u, serial)) return
  land(u)
  u.tries.attempt -= 1
  if (u.status === 'stopping') return over(run, u, 'cancelled')
  if (skips === true) return skip(run, u, { because: 'limit', limit: line.limit, key: line.key })
  note(u, { line })
  wait(run, u, null)
}

/** It has a slot: its handler is asked. */
export function permit(run: Run, u: Unit): void {
  if (u.status === 'waiting' && u.note?.line !== undefined) ask(run, u, u.phase!)
}

/** Its row says that its ask is under way; with `before`, before its handler is called. */
export function record(run: Run, u: Unit, event: EventOf<'record'>): void {
  if (!answers(u, event.serial)) return
  u.recorded = event.before
  if (event.within === true) u.within ??= u.serial
  touch(run, u)
}
