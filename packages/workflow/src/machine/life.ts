import { complete, expire, fail, land, note, over, skip, stick, touch, undone } from './outcomes.ts'
import {
  type Answer,
  type MachineEvent,
  noTries,
  type Payload,
  type Phase,
  type Run,
  type Unit,
} from './state.ts'

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
  if (u.phase !== phase) Object.assign(u.tries, noTries())
  u.phase = phase
  u.tries.attempt += 1
  u.tries.due = null
  u.serial += 1
  if (phase === 'body') u.status = 'open'
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
  u.forward.due = answer?.due ?? null
  touch(run, u)
  u.kind.grow?.(run, u, answer)
  run.agenda.push({ unit: u, does: 'enter' })
}

export function done(run: Run, u: Unit, event: EventOf<'done'>): void {
  if (!answers(u, event.serial)) return
  const { phase } = u
  land(u)
  if (phase === 'undo') return undone(run, u)
  if (phase === 'body') return u.kind.returned?.(run, u, event)
  if (phase === 'run') u.touched = true
  else if (u.status === 'stopping') return over(run, u, 'cancelled')
  if (phase === 'decide') {
    if (event.yes !== true) return skip(run, u, { because: 'when' })
    note(u, { decided: true })
    touch(run, u)
    return go(run, u)
  }
  if (phase === 'open') return open(run, u, event)
  if (event.due === undefined) return complete(run, u, event.output)
  if (u.status === 'stopping') return over(run, u, 'cancelled')
  Object.assign(u.forward, noTries())
  wait(run, u, event.due)
}

export function failed(run: Run, u: Unit, event: EventOf<'failed'>): void {
  if (!answers(u, event.serial)) return
  const { phase, tries } = u
  land(u)
  tries.failures += 1
  if (phase === 'run') u.touched = true
  if (event.succeeded === true) u.succeeded = true
  else if (event.retryAt !== undefined && phase !== 'body' && u.status !== 'stopping') {
    tries.series ??= event.startedAt ?? run.now
    return wait(run, u, event.retryAt, { error: event.error })
  }
  if (phase === 'undo') stick(run, u, event.error)
  else fail(run, u, event.error)
}

/** It waits until then; with null only for mail. Then its phase is asked again; without a phase it sets out; of `wait` its kind knows. */
export function wait(run: Run, u: Unit, due: number | null, payload?: Payload): void {
  if (u.status !== 'undoing' && u.status !== 'stopping') u.status = 'waiting'
  u.tries.due = due
  touch(run, u, payload)
}

/** A leaf waits for what its kind knows. */
export function waitFor(run: Run, u: Unit, due: number | null): void {
  u.phase = 'wait'
  wait(run, u, due)
}

export function due(run: Run, u: Unit): void {
  const { tries } = u
  if (tries.due === null || tries.due > run.now || run.paused) return
  tries.due = null
  if (u.status === 'open') expire(run, u)
  else if (u.status === 'undoing') ask(run, u, 'undo')
  else if (u.phase === 'wait') u.kind.due?.(run, u)
  else if (u.phase === null) setOut(run, u)
  else ask(run, u, u.phase)
}

/**
 * Whoever had the ask is gone, and nobody knows whether it had begun: it is a suspect. Its attempt and its losses grow; only if a row had said so before its
 * handler was called does the loss count as a kill.
 */
export function lost(run: Run, u: Unit, serial: number): void {
  if (!answers(u, serial)) return
  const { tries, phase } = u
  // Not if that row is only in this fold.
  const isKill = u.recorded && u.serial === u.written
  land(u)
  tries.losses += 1
  if (isKill) tries.kills += 1
  if (phase === 'run') u.touched = true
  if (u.status === 'stopping') return over(run, u, phase === 'run' ? 'unknown' : 'cancelled')
  const { lossesMax } = u.spec
  if (isKill && lossesMax != null && tries.kills >= lossesMax) {
    if (phase === 'undo') return stick(run, u, 'lost')
    return fail(run, u, 'lost', 'unknown')
  }
  ask(run, u, phase!, { suspect: true })
}

/** It was never called: the attempt does not count. */
export function unbegun(run: Run, u: Unit, serial: number): void {
  if (!answers(u, serial)) return
  const { phase, tries } = u
  land(u)
  tries.attempt -= 1
  if (u.status === 'stopping') return over(run, u, 'cancelled')
  ask(run, u, phase!)
}

/** Its row says that its ask is under way; with `before`, before its handler is called. */
export function record(run: Run, u: Unit, { serial, before }: EventOf<'record'>): void {
  if (!answers(u, serial)) return
  u.recorded = before
  touch(run, u)
}
